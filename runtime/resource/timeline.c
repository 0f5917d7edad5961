/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines: the names of streams, and epochs that are recorded by events and polled or waited for.
 */
#include "resource/timeline.h"

#include <stdlib.h>
#include <string.h>

uint64_t kmm__thread_number(void)
{
    static _Atomic uint64_t threads;
    static _Thread_local uint64_t mine;
    if (!mine)
        mine = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    return mine;
}

enum { UNORDERED_KEYS = 64 };

static void name_of(const kmm__timelines_t *ts, kmm_stream_t stream, uintptr_t *key,
                    uint64_t *thread)
{
    *key = (uintptr_t)stream;
    *thread = 0;
    if (!ts->order) {
        /* Without an order all streams are alike: threads get different keys, so that they do not
         * share one. */
        *key = kmm__thread_number() % UNORDERED_KEYS;
    } else if (*key <= KMM__STREAM_LEGACY) {
        *key = KMM__STREAM_LEGACY;
    } else if (*key == KMM__STREAM_PER_THREAD) {
        *thread = kmm__thread_number();
    }
}

static kmm__timeline_name_t *find(kmm__timelines_t *ts, uintptr_t key, uint64_t thread)
{
    kmm__timeline_name_t *n =
        atomic_load_explicit(kmm__timeline_bucket(ts, key, thread), memory_order_acquire);
    while (n && (n->key != key || n->thread != thread))
        n = n->next;
    return n;
}

int kmm__timelines_init(kmm__timelines_t *ts, const kmm_stream_order_t *order,
                        size_t timeline_bytes, bool (*idle)(kmm__timeline_t *t),
                        void (*init)(kmm__timeline_t *t))
{
    memset(ts, 0, sizeof(*ts));
    ts->order = order;
    ts->timeline_bytes = timeline_bytes;
    ts->idle = idle;
    ts->init = init;
    return pthread_mutex_init(&ts->lock, NULL) ? KMM_E_MEMORY : 0;
}

static void timeline_free(kmm__timelines_t *ts, kmm__timeline_t *t)
{
    for (int i = 0; i < t->recorded_count; i++)
        ts->order->event_destroy(ts->order->context, t->recorded[i].event);
    free(t->after);
    free(t);
}

void kmm__timelines_deinit(kmm__timelines_t *ts)
{
    for (kmm__timeline_t *t = ts->all, *next; t; t = next) {
        next = t->next;
        timeline_free(ts, t);
    }
    for (int i = 0; i < ts->spare_count; i++)
        ts->order->event_destroy(ts->order->context, ts->spare[i]);
    for (int i = 0; i < KMM__TIMELINE_BUCKETS; i++)
        for (kmm__timeline_name_t *n = ts->buckets[i], *next; n; n = next) {
            next = n->next;
            free(n);
        }
    pthread_mutex_destroy(&ts->lock);
}

/* True if the work of an ended stream is done. Then any stream may use memory that has its tag,
 * even memory that is on no shelf at the moment. The caller holds ts->lock. A timeline's lock comes
 * before it in the order, so it is only tried: its holder may be waiting for ts->lock. */
static bool is_over(kmm__timelines_t *ts, kmm__timeline_t *t)
{
    if (!kmm__lock_try(&t->lock))
        return false;
    const int newest = t->recorded_count - 1;
    const bool over =
        newest < 0 || ts->order->event_query(ts->order->context, t->recorded[newest].event) == 1;
    kmm__lock_drop(&t->lock);
    return over;
}

/* Returns a timeline for a new stream: that of an ended stream whose memory is all reused, or a new
 * one. */
static kmm__timeline_t *timeline_create(kmm__timelines_t *ts)
{
    for (kmm__timeline_t *t = ts->all; t; t = t->next)
        if (t->ended && ts->idle(t) && is_over(ts, t)) {
            t->ended = false;
            for (uint32_t i = 0; i < t->after_count; i++)
                t->after[i] = 0;
            return t;
        }
    size_t bytes = kmm__round_up(
        ts->timeline_bytes,
        128); /* a multiple of two cache lines, because processors fetch lines in pairs */
    kmm__timeline_t *t = aligned_alloc(128, bytes);
    if (!t)
        return NULL;
    memset(t, 0, bytes);
    t->id = ts->count++;
    t->epoch = 1;
    if (ts->init)
        ts->init(t);
    t->next = ts->all;
    atomic_store_explicit(&ts->all, t, memory_order_release);
    return t;
}

static kmm__timeline_t *add(kmm__timelines_t *ts, kmm_stream_t stream, uintptr_t key,
                            uint64_t thread)
{
    kmm__timeline_name_t *n = find(ts, key, thread);
    if (n && n->timeline)
        return n->timeline; /* another thread has added it first */
    if (!n) {
        n = calloc(1, sizeof(*n));
        if (!n)
            return NULL;
        n->key = key;
        n->thread = thread;
        n->next = *kmm__timeline_bucket(ts, key, thread);
        atomic_store_explicit(kmm__timeline_bucket(ts, key, thread), n, memory_order_release);
    }
    kmm__timeline_t *t = timeline_create(ts);
    if (t) {
        t->stream = stream;
        t->thread = thread;
    }
    atomic_store_explicit(&n->timeline, t, memory_order_release);
    return t;
}

kmm__timeline_t *kmm__timeline_of_any(kmm__timelines_t *ts, kmm_stream_t stream)
{
    uintptr_t key;
    uint64_t thread;
    name_of(ts, stream, &key, &thread);
    kmm__timeline_name_t *n = find(ts, key, thread);
    kmm__timeline_t *t = n ? atomic_load_explicit(&n->timeline, memory_order_acquire) : NULL;
    if (t)
        return t;
    pthread_mutex_lock(&ts->lock);
    t = add(ts, stream, key, thread);
    pthread_mutex_unlock(&ts->lock);
    return t;
}

/* Removes and returns the oldest event. The next event covers what it covers. */
static void *drop_oldest(kmm__timeline_t *t)
{
    void *event = t->recorded[0].event;
    memmove(&t->recorded[0], &t->recorded[1], (size_t)--t->recorded_count * sizeof(t->recorded[0]));
    return event;
}

static int event_get(kmm__timelines_t *ts, kmm__timeline_t *t, void **event)
{
    if (t->recorded_count == KMM__TIMELINE_EVENTS) {
        *event = drop_oldest(t);
        return 0;
    }
    pthread_mutex_lock(&ts->lock);
    *event = ts->spare_count ? ts->spare[--ts->spare_count] : NULL;
    pthread_mutex_unlock(&ts->lock);
    return *event ? 0 : ts->order->event_create(ts->order->context, event);
}

static void event_put(kmm__timelines_t *ts, void *event)
{
    pthread_mutex_lock(&ts->lock);
    bool kept = ts->spare_count < KMM__TIMELINE_EVENTS;
    if (kept)
        ts->spare[ts->spare_count++] = event;
    pthread_mutex_unlock(&ts->lock);
    if (!kept)
        ts->order->event_destroy(ts->order->context, event);
}

/* Returns the stream on which an event covers the timeline's work. Another thread's own stream has
 * no handle here; the default stream, NULL, waits for the work of all of them. */
static kmm_stream_t stream_of(const kmm__timeline_t *t)
{
    return t->thread && t->thread != kmm__thread_number() ? NULL : t->stream;
}

/* Records an event that covers all work on the stream so far. The caller holds the timeline's lock.
 */
static int record(kmm__timelines_t *ts, kmm__timeline_t *t)
{
    void *event;
    int status = event_get(ts, t, &event);
    if (status)
        return status;
    uint64_t epoch = t->epoch++;
    status = ts->order->event_record(ts->order->context, event, stream_of(t));
    if (status) {
        event_put(ts, event);
        return status;
    }
    atomic_fetch_add_explicit(&ts->events, 1, memory_order_relaxed);
    t->recorded[t->recorded_count].event = event;
    t->recorded[t->recorded_count++].epoch = epoch;
    return 0;
}

/* Returns the newest epoch that has passed or that an event covers. */
static uint64_t covered(const kmm__timeline_t *t)
{
    return t->recorded_count ? t->recorded[t->recorded_count - 1].epoch : t->done;
}

/* Returns the index of the oldest event that covers the epoch. If there is none, records one now.
 * Negative: an error. */
static int cover(kmm__timelines_t *ts, kmm__timeline_t *t, uint64_t epoch)
{
    if (covered(t) < epoch) {
        int status = t->ended ? kmm__resource_fail(
                                    KMM_E_STATE,
                                    "memory was freed on a stream while its end was told, or after")
                              : record(ts, t);
        if (status)
            return status;
    }
    int i = 0;
    while (t->recorded[i].epoch < epoch)
        i++;
    return i;
}

static void query(kmm__timelines_t *ts, kmm__timeline_t *t)
{
    while (t->recorded_count &&
           ts->order->event_query(ts->order->context, t->recorded[0].event) == 1) {
        t->done = t->recorded[0].epoch;
        event_put(ts, drop_oldest(t));
    }
}

uint64_t kmm__timeline_poll(kmm__timelines_t *ts, kmm__timeline_t *t, uint64_t newest)
{
    kmm__lock_take(&t->lock);
    if (covered(t) < newest && !t->ended)
        record(ts, t); /* if this fails no epoch passes, which is safe */
    query(ts, t);
    uint64_t done = t->done;
    kmm__lock_drop(&t->lock);
    return done;
}

static int after_reserve(kmm__timeline_t *waiter, uint32_t id)
{
    if (id < waiter->after_count)
        return 0;
    uint32_t count = id + 8;
    uint64_t *after = realloc(waiter->after, count * sizeof(*after));
    if (!after)
        return KMM_E_MEMORY;
    memset(after + waiter->after_count, 0, (count - waiter->after_count) * sizeof(*after));
    waiter->after = after;
    waiter->after_count = count;
    return 0;
}

int kmm__timeline_after(kmm__timelines_t *ts, kmm__timeline_t *waiter, kmm__timeline_t *t,
                        uint64_t epoch)
{
    int status = after_reserve(waiter, t->id);
    if (status || waiter == t || waiter->after[t->id] >= epoch)
        return status;
    kmm__lock_take(&t->lock);
    if (t->done < epoch) {
        int i = cover(ts, t, epoch);
        status = i < 0 ? i
                       : ts->order->stream_wait(ts->order->context, waiter->stream,
                                                t->recorded[i].event);
        if (status == 0) {
            waiter->after[t->id] = t->recorded[i].epoch;
            atomic_fetch_add_explicit(&ts->waits, 1, memory_order_relaxed);
        }
    }
    kmm__lock_drop(&t->lock);
    return status;
}

int kmm__timeline_end(kmm__timelines_t *ts, kmm_stream_t stream)
{
    uintptr_t key;
    uint64_t thread;
    name_of(ts, stream, &key, &thread);
    kmm__timeline_name_t *n = find(ts, key, thread);
    kmm__timeline_t *t = n && ts->order ? n->timeline : NULL;
    if (!t)
        return 0;
    kmm__lock_take(&t->lock);
    int status = record(ts, t);
    kmm__lock_drop(&t->lock);
    if (status)
        return status;
    pthread_mutex_lock(&ts->lock);
    atomic_store_explicit(&n->timeline, NULL, memory_order_release);
    t->ended = true;
    pthread_mutex_unlock(&ts->lock);
    return 0;
}

int kmm__timeline_settle(kmm__timelines_t *ts, kmm__timeline_t *t, uint64_t epoch)
{
    kmm__lock_take(&t->lock);
    int status = 0;
    if (t->done < epoch) {
        int i = cover(ts, t, epoch);
        status = i < 0 ? i : ts->order->event_wait(ts->order->context, t->recorded[i].event);
        if (status == 0)
            query(ts, t);
    }
    kmm__lock_drop(&t->lock);
    return status;
}
