/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks of a trace: the streams of devices and the threads of the host, with what has begun on
 * each and not ended. Used by the tracer alone. */
#ifndef KMM__OBSERVE_TRACE_TRACKS_H
#define KMM__OBSERVE_TRACE_TRACKS_H

#include <stdbool.h>

#include "base/trace.h"

enum {
    KMM__TRACK_HOST = 1, /* pid of the host's threads */
    KMM__TRACK_DISK = 2,
    KMM__TRACK_DEVICE = 10, /* pid of device 0 of the process */
    KMM__TRACK_DEPTH = 8,   /* slices within each other on one track */
    KMM__TRACK_TASKS = 64   /* tasks of one slice that are named */
};

/* Something that has begun. */
typedef struct kmm__slice {
    kmm__event_t begin;
    uint32_t count; /* of tasks, without begin.task */
    uint64_t tasks[KMM__TRACK_TASKS];
} kmm__slice_t;

typedef struct kmm__track {
    uint32_t pid, tid;
    bool is_named;
    uint32_t depth; /* slices that are open; those beyond KMM__TRACK_DEPTH are not kept */
    kmm__slice_t slices[KMM__TRACK_DEPTH];
    struct kmm__track *next, *next_of_all;
} kmm__track_t;

/* Returns the track, which is made if it is new. */
kmm__track_t *kmm__track_get(uint32_t pid, uint32_t tid);
kmm__track_t *kmm__tracks_all(void); /* a list by next_of_all */
void kmm__track_begin(kmm__track_t *t, const kmm__event_t *begin);
/* Ends the innermost slice. NULL: none is open, or it was not kept. */
const kmm__slice_t *kmm__track_end(kmm__track_t *t);
void kmm__track_join(kmm__track_t *t, uint64_t task); /* adds a task to the innermost slice */
void kmm__tracks_forked(void);                        /* forgets all */

#endif
