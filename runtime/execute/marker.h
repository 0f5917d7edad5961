/* SPDX-License-Identifier: Apache-2.0 */
/* Points in the order of submission, for streams and events of managed programs. */
#ifndef KMM__MARKER_H
#define KMM__MARKER_H

#include <stdbool.h>
#include <stdint.h>

#include <kmm.h>

typedef struct kmm__marker kmm__marker_t;

/* The stream argument that means: all work, whatever its stream. */
extern const char kmm__all_streams;

/* Whether it is the default stream, by any of its names. */
bool kmm__stream_is_default(const void *stream);
/* A point that is reached when all work submitted so far with this geometry.stream has finished.
 * The caller owns one reference. */
int kmm__marker_create(kmm_runtime_t *rt, const void *stream, kmm__marker_t **out);
/* Work submitted later on `stream` starts only once the marker is reached (marker of the same
 * runtime). */
int kmm__marker_precede(kmm__marker_t *m, const void *stream);
/* The same for what others put on that stream of the driver's, which waits on the device: returns
 * when work before the marker is on streams. False: it has to be waited for, or was reached
 * already. */
bool kmm__marker_precede_plain(kmm__marker_t *m, void *stream);
/* Work submitted later on the driver's stream of the current device starts only when all that
 * others have enqueued there is done. */
void kmm__stream_follow(kmm_runtime_t *rt, void *stream);
/* Blocks until it is reached. 0, or the first error of the work before it. */
int kmm__marker_wait(kmm__marker_t *m);
/* 1 reached, 0 not yet, negative error. */
int kmm__marker_query(kmm__marker_t *m);
/* When it was reached, nanoseconds of CLOCK_MONOTONIC; 0 if it has not been. */
uint64_t kmm__marker_time(kmm__marker_t *m);
void kmm__marker_retain(kmm__marker_t *m);
void kmm__marker_release(kmm__marker_t *m); /* NULL is allowed */

#endif
