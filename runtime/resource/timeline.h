/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams, as a resource that reuses memory sees them.
 *
 * Each stream has an epoch. Memory freed on it is tagged with the epoch; an event recorded on it
 * covers the epoch it was in and all before, and starts the next one. So one event serves all
 * memory freed before it, and none is recorded until somebody has to know.
 *
 *   tag of a free block:   (timeline, epoch)
 *   safe on `other` when:  epoch <= timeline.done, or epoch <= other.after[timeline], or after a
 * wait
 *
 * The epoch is advanced before the event is recorded. So who reads the old epoch, after it has
 * enqueued its work, has done so before the event: the driver takes calls for a stream one after
 * the other, and had it taken the event first, the new epoch would be seen after it.
 */
#ifndef KMM__RESOURCE_TIMELINE_H
#define KMM__RESOURCE_TIMELINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "resource/lock.h"
#include "resource/resource.h"

enum { KMM__TIMELINE_EVENTS = 8, KMM__TIMELINE_BUCKETS = 256 };

typedef struct kmm__timeline {
    kmm__lock_t lock;
    kmm_stream_t stream;
    _Atomic uint64_t epoch; /* of memory freed now; starts at 1 */
    uint64_t done;          /* epochs up to this have passed */
    uint32_t id;            /* index into `after` of others; never changes */
    _Atomic bool ended;     /* the stream is gone: everything has been recorded */
    int recorded_count;
    uint32_t after_count;
    uint64_t *after;            /* guarded by the lock of the resource */
    struct kmm__timeline *next; /* all of a resource, newest first; never changes */
    struct {
        void *event;
        uint64_t epoch;
    } recorded[KMM__TIMELINE_EVENTS]; /* oldest first */
    uint64_t thread; /* whose own default stream it is, of one handle for all threads; 0: a stream
                        like any other */
} kmm__timeline_t;

/* Names stay until the resource goes, so that they are read without a lock; drivers use handles
 * again. */
typedef struct kmm__timeline_name {
    struct kmm__timeline_name *next;
    uintptr_t key;
    uint64_t thread;
    _Atomic(kmm__timeline_t *) timeline; /* NULL after the stream has ended */
} kmm__timeline_name_t;

typedef struct kmm__timelines {
    const kmm_stream_order_t
        *order;            /* NULL: nothing is asynchronous, and timelines stand for threads */
    size_t timeline_bytes; /* of the resource's struct that starts with a timeline */
    /* Whether an ended timeline may serve another stream: no memory is tagged with it. */
    bool (*idle)(kmm__timeline_t *t);
    void (*init)(kmm__timeline_t *t); /* what is not zero after the timeline; may be NULL */
    pthread_mutex_t lock;             /* to add; after the resource's lock */
    _Atomic(kmm__timeline_name_t *) buckets[KMM__TIMELINE_BUCKETS];
    _Atomic(kmm__timeline_t *) all;
    uint32_t count;
    void *spare[KMM__TIMELINE_EVENTS]; /* events to use again */
    int spare_count;
    _Atomic size_t waits, events;
} kmm__timelines_t;

int kmm__timelines_init(kmm__timelines_t *ts, const kmm_stream_order_t *order,
                        size_t timeline_bytes, bool (*idle)(kmm__timeline_t *t),
                        void (*init)(kmm__timeline_t *t));
void kmm__timelines_deinit(kmm__timelines_t *ts);

/* The timeline of any stream, made at first use with zeros after the timeline itself. Takes no lock
 * when it is there. NULL when the host has no memory. */
kmm__timeline_t *kmm__timeline_of_any(kmm__timelines_t *ts, kmm_stream_t stream);

/* CU_STREAM_LEGACY, which NULL is too; and CU_STREAM_PER_THREAD and hipStreamPerThread: one handle
 * for a different stream in each thread. */
enum { KMM__STREAM_LEGACY = 1, KMM__STREAM_PER_THREAD = 2 };

static inline _Atomic(kmm__timeline_name_t *) *kmm__timeline_bucket(kmm__timelines_t *ts,
                                                                    uintptr_t key, uint64_t thread)
{
    return &ts->buckets[(((uint64_t)key ^ thread << 32) * 0x9E3779B97F4A7C15u) >> 56];
}

/* The same; most streams have a name of their own, the first of its bucket. */
static inline kmm__timeline_t *kmm__timeline_of(kmm__timelines_t *ts, kmm_stream_t stream)
{
    const uintptr_t key = stream ? (uintptr_t)stream : KMM__STREAM_LEGACY;
    const kmm__timeline_name_t *n =
        atomic_load_explicit(kmm__timeline_bucket(ts, key, 0), memory_order_acquire);
    kmm__timeline_t *t = NULL;
    if (n && n->key == key && key != KMM__STREAM_PER_THREAD && ts->order)
        t = atomic_load_explicit(&n->timeline, memory_order_acquire);
    return t ? t : kmm__timeline_of_any(ts, stream);
}

/* With the resource's lock held, and no timeline's: */

/* Looks which epochs have passed; records an event first if none covers `newest`. Returns `done`.
 */
uint64_t kmm__timeline_poll(kmm__timelines_t *ts, kmm__timeline_t *t, uint64_t newest);
/* Later work of `waiter` runs after `epoch` of `t`. */
int kmm__timeline_after(kmm__timelines_t *ts, kmm__timeline_t *waiter, kmm__timeline_t *t,
                        uint64_t epoch);
/* Takes the name from the timeline of a stream that ends; nothing is recorded on it any more. */
int kmm__timeline_end(kmm__timelines_t *ts, kmm_stream_t stream);

/* With no lock held: blocks until the epoch has passed. */
int kmm__timeline_settle(kmm__timelines_t *ts, kmm__timeline_t *t, uint64_t epoch);

/* A small number for this thread, unique in the process. */
uint64_t kmm__thread_number(void);

#endif
