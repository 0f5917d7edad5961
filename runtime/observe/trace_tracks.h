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
    KMM__TRACK_NODES = 3,
    KMM__TRACK_DEVICE = 10 /* pid of device 0 of the process */
};

/* The slices of a stream are a queue, of which the first runs or waits. Those of a thread are a
 * stack, of which the last is the innermost. */
typedef struct kmm__track {
    uint32_t pid, tid;
    bool is_named;
    uint64_t end;         /* time at which a slice ended last */
    kmm__event_t *slices; /* from `first` on; those before it have ended */
    uint32_t first, count, capacity;
    struct kmm__track *next, *next_of_all;
} kmm__track_t;

/* Returns the track, which is made if it is new. */
kmm__track_t *kmm__track_get(uint32_t pid, uint32_t tid);
kmm__track_t *kmm__tracks_all(void); /* a list by next_of_all */
/* Adds a slice behind the others. */
void kmm__track_push(kmm__track_t *t, const kmm__event_t *begin);
/* Sets the time at which the first slice has begun. */
void kmm__track_begin(kmm__track_t *t, uint64_t time);
/* Remove the first slice, or the last one, which ends at `time`. *slice receives it, with the time
 * at which it has begun. False: there is none. */
bool kmm__track_take_first(kmm__track_t *t, uint64_t time, kmm__event_t *slice);
bool kmm__track_take_last(kmm__track_t *t, kmm__event_t *slice);
void kmm__tracks_forked(void); /* forgets all */

#endif
