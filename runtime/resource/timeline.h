/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines: when memory that was freed on one stream may be used on another.
 *
 * Each stream has an epoch. Memory freed on the stream is tagged with its current epoch. An event
 * recorded on the stream covers the current epoch and all earlier ones, and starts the next epoch.
 * So one event serves all memory freed before it. Events are recorded only when the answer is
 * needed.
 *
 *   tag of a free block:   (timeline, epoch)
 *   safe on `other` when:  epoch <= timeline.done, or epoch <= other.after[timeline], or after a
 *                          wait
 *
 * The epoch is advanced before the event is recorded. A thread that enqueues work and then reads
 * the old epoch has therefore enqueued it before the event. Proof: the driver takes the calls for a
 * stream one after the other; had it taken the event first, the thread would read the new epoch.
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
    _Atomic uint64_t epoch; /* epoch of memory that is freed now; starts at 1 */
    uint64_t done;          /* all epochs up to this one have passed */
    uint32_t id;            /* index into `after` of others; never changes */
    _Atomic bool ended;     /* the stream has ended and all its epochs are recorded */
    int recorded_count;
    uint32_t after_count;
    uint64_t *after; /* guarded by the lock of the resource */
    struct kmm__timeline
        *next; /* list of all timelines of the resource, newest first; never changes */
    struct {
        void *event;
        uint64_t epoch;
    } recorded[KMM__TIMELINE_EVENTS]; /* oldest first */
    /* The thread whose per-thread default stream this is; 0: an ordinary stream. All threads
     * name their default stream by one handle. */
    uint64_t thread;
} kmm__timeline_t;

/* A name: it maps a stream's handle to a timeline. Drivers reuse handles. Names are freed with
 * the resource, so that they can be read without a lock. */
typedef struct kmm__timeline_name {
    struct kmm__timeline_name *next;
    uintptr_t key;
    uint64_t thread;
    _Atomic(kmm__timeline_t *) timeline; /* NULL after the stream has ended */
} kmm__timeline_name_t;

typedef struct kmm__timelines {
    /* NULL: nothing is asynchronous, and each timeline stands for a thread. */
    const kmm_stream_order_t *order;
    /* Size of the resource's struct whose first member is a timeline. */
    size_t timeline_bytes;
    /* True if no memory is tagged with an ended timeline, so that another stream may use it. */
    bool (*idle)(kmm__timeline_t *t);
    void (*init)(kmm__timeline_t *t); /* initializes the fields after the timeline that are not
                                         zero; may be NULL */
    pthread_mutex_t lock;             /* held to add a timeline; taken after the resource's lock */
    _Atomic(kmm__timeline_name_t *) buckets[KMM__TIMELINE_BUCKETS];
    _Atomic(kmm__timeline_t *) all;
    uint32_t count;
    void *spare[KMM__TIMELINE_EVENTS]; /* unused events */
    int spare_count;
    _Atomic size_t waits, events;
} kmm__timelines_t;

int kmm__timelines_init(kmm__timelines_t *ts, const kmm_stream_order_t *order,
                        size_t timeline_bytes, bool (*idle)(kmm__timeline_t *t),
                        void (*init)(kmm__timeline_t *t));
void kmm__timelines_deinit(kmm__timelines_t *ts);

/* Returns the timeline of any stream; creates it at first use, with zeros after the timeline
 * itself. Takes no lock if it exists. NULL: the host has no memory. */
kmm__timeline_t *kmm__timeline_of_any(kmm__timelines_t *ts, kmm_stream_t stream);

/* Handles with a special meaning. LEGACY is CU_STREAM_LEGACY; NULL is the same stream.
 * PER_THREAD is CU_STREAM_PER_THREAD and hipStreamPerThread: one handle that names a different
 * stream in each thread. */
enum { KMM__STREAM_LEGACY = 1, KMM__STREAM_PER_THREAD = 2 };

static inline _Atomic(kmm__timeline_name_t *) *kmm__timeline_bucket(kmm__timelines_t *ts,
                                                                    uintptr_t key, uint64_t thread)
{
    return &ts->buckets[(((uint64_t)key ^ thread << 32) * 0x9E3779B97F4A7C15u) >> 56];
}

/* The same, with a fast path for most streams: a stream whose name is the first of its bucket. */
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

/* ---- The caller holds the resource's lock, and no timeline's ---- */

/* Checks which epochs have passed and returns `done`. If no event covers `newest`, records one
 * first. */
uint64_t kmm__timeline_poll(kmm__timelines_t *ts, kmm__timeline_t *t, uint64_t newest);
/* Makes later work of `waiter` run after `epoch` of `t`. */
int kmm__timeline_after(kmm__timelines_t *ts, kmm__timeline_t *waiter, kmm__timeline_t *t,
                        uint64_t epoch);
/* Removes the name of a stream that ends. Nothing more is recorded on its timeline. */
int kmm__timeline_end(kmm__timelines_t *ts, kmm_stream_t stream);

/* The caller holds no lock. Blocks until the epoch has passed. */
int kmm__timeline_settle(kmm__timelines_t *ts, kmm__timeline_t *t, uint64_t epoch);

/* Returns a small number for this thread, unique in the process. */
uint64_t kmm__thread_number(void);

#endif
