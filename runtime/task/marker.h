/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers: points in the order of submission, for streams and events of managed programs. The
 * unfinished tasks of a stream of the program lie in spans. A marker closes the span
 * that is open, and is reached when that span and all before it are empty.
 */
#ifndef KMM__TASK_MARKER_H
#define KMM__TASK_MARKER_H

#include "task/task.h"

typedef struct kmm__marker kmm__marker_t;

/* The stream argument that means: all work, whatever its stream. */
extern const char kmm__all_streams;

/* Whether it is the default stream, by any of its names. */
bool kmm__stream_is_default(const void *stream);

/* ---- Program streams (locked) ---- */
void kmm__program_stream_enter(kmm__task_t *t, const void *stream); /* t is about to be submitted */
void kmm__program_stream_issued(kmm__task_t *t);                    /* t is on streams */
void kmm__program_stream_leave(kmm__task_t *t);                     /* t is done */
void kmm__program_streams_free(kmm_runtime_t *rt);

/* ---- Markers (not locked) ---- */
/* A point that is reached when all work submitted so far on `stream` has finished. The caller owns
 * one reference. */
int kmm__marker_create(kmm_runtime_t *rt, const void *stream, kmm__marker_t **out);
void kmm__marker_retain(kmm__marker_t *m);
void kmm__marker_release(kmm__marker_t *m); /* NULL is allowed */

/* Work submitted later on `stream` starts only once the marker is reached. Same runtime. */
int kmm__marker_precede(kmm__marker_t *m, const void *stream);
/* The same for what others put on that stream of the driver's, which then waits on the device.
 * Returns when work before the marker is on streams. False: the marker was reached already, or has
 * to be waited for. */
bool kmm__marker_precede_driver(kmm__marker_t *m, void *stream);

/* Blocks until it is reached. 0, or the first error of the work before it. */
int kmm__marker_wait(kmm__marker_t *m);
/* 1 reached, 0 not yet, negative error. */
int kmm__marker_query(kmm__marker_t *m);
/* When it was reached, nanoseconds of CLOCK_MONOTONIC; 0 if it has not been. */
uint64_t kmm__marker_time(kmm__marker_t *m);

/* ---- Streams of the driver's that others use too (not locked) ---- */
/* Work submitted later on the driver's stream of the current device starts only when all that
 * others have enqueued there is done. */
void kmm__stream_follow(kmm_runtime_t *rt, void *stream);
/* The GPU that is current for this thread, if it is one of the runtime's; else NULL. */
kmm__device_t *kmm__current_gpu(const kmm_runtime_t *rt);

#endif
