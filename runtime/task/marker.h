/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers: positions in the order of submission. Streams and events of managed programs need them.
 *
 * Every task belongs to one program stream. The unfinished tasks of a program stream lie in spans,
 * which are ordered; new tasks join the last span. A marker on a program stream closes its last
 * span. The marker is reached when that span and all spans before it are empty.
 */
#ifndef KMM__TASK_MARKER_H
#define KMM__TASK_MARKER_H

#include "task/task.h"

typedef struct kmm__marker kmm__marker_t;

/* Passed as a stream, it means all program streams. */
extern const char kmm__all_streams;

/* True if `stream` is the default stream, by any of its names. */
bool kmm__stream_is_default(const void *stream);

/* ---- Program streams (locked) ---- */
/* Adds t to the stream's last span, behind the stream's gates. */
void kmm__program_stream_enter(kmm__task_t *t, const void *stream);
void kmm__program_stream_issued(kmm__task_t *t); /* t's work is enqueued */
void kmm__program_stream_leave(kmm__task_t *t);  /* removes t from its span */
/* Adds t, which has left its span and is not done, to the stream's last span. */
void kmm__program_stream_return(kmm__task_t *t, const void *stream);
void kmm__program_streams_free(kmm_runtime_t *rt);

/* ---- Markers (not locked) ---- */
/* Makes a marker that is reached when all work submitted so far on `stream` has finished. The
 * caller owns one reference. Returns 0. */
int kmm__marker_create(kmm_runtime_t *rt, const void *stream, kmm__marker_t **out);
void kmm__marker_retain(kmm__marker_t *m);
void kmm__marker_release(kmm__marker_t *m); /* NULL: does nothing */

/* Makes work that is submitted later on `stream` start only when the marker is reached. The marker
 * and the work are of one runtime. Returns 0. */
int kmm__marker_precede(kmm__marker_t *m, const void *stream);
/* Makes work that others enqueue later on the driver's stream `stream` wait, on the device, for the
 * work before the marker. Returns once that work is on streams. False: the marker has been reached
 * already, or the caller must wait for it on the host. */
bool kmm__marker_precede_driver(kmm__marker_t *m, void *stream);

/* Blocks until the marker is reached. Returns 0, or the first error of the work before it. */
int kmm__marker_wait(kmm__marker_t *m);
/* Returns 1 if the marker is reached, 0 if not yet, and the first error of the work before it if
 * that failed. */
int kmm__marker_query(kmm__marker_t *m);
/* The time at which the marker was reached, in nanoseconds of CLOCK_MONOTONIC. 0: not yet. */
uint64_t kmm__marker_time(kmm__marker_t *m);

/* ---- Streams of the driver that other code uses, too (not locked) ---- */
/* Makes work that is submitted later on `stream`, a stream of the current device, start only when
 * all that other code has enqueued there is done. Does nothing on a thread that is inside a task.
 */
void kmm__stream_follow(kmm_runtime_t *rt, void *stream);
/* The GPU that is current for this thread, if the runtime uses it; otherwise NULL. */
kmm__device_t *kmm__current_gpu(const kmm_runtime_t *rt);

#endif
