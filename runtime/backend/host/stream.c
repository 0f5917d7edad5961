/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events of the CPU.
 *
 * A stream is in one of three states: idle (pending == 0); parked, waiting for another stream; or
 * held, which means queued in the pool or being run by one thread. Only the thread that holds a
 * stream takes its operations. Enqueueing needs no lock.
 */
#include "backend/host/stream.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>

#include "backend/host/error.h"
#include "base/alloc.h"

/* Operations of a stream that a thread runs before other items of the pool get their turn. */
enum { TURN = 8 };

static void stream_run(kmm__pool_item_t *item);
/* Completes a shared operation, and goes on with its stream. */
static void resume(kmm__op_t *op);

/* ---- Creating and destroying ---- */

static kmm__stream_t *stream_new(kmm__host_t *host)
{
    kmm__stream_t *s = aligned_alloc(64, sizeof(*s));
    kmm__op_t *first = aligned_alloc(64, sizeof(*first));
    if (!s || !first) {
        free(s);
        free(first);
        return NULL;
    }
    *s = (kmm__stream_t){.item = {.run = stream_run},
                         .host = host,
                         .spare = first,
                         .spare_end = first,
                         .tail = first};
    atomic_init(&first->next, NULL);
    first->payload = first->inline_payload;
    atomic_init(&s->done, first);
    pthread_mutex_init(&s->lock, NULL);
    s->next = host->streams;
    host->streams = s;
    return s;
}

/* A stream that is used again goes on counting, so that events recorded on it stay done. */
int kmm__host_stream_create(kmm__gpu_t *gpu, kmm__stream_t **out)
{
    kmm__host_t *host = gpu->host;
    pthread_mutex_lock(&host->lock);
    kmm__stream_t *s = host->spare_streams;
    if (s)
        host->spare_streams = s->next_spare;
    else
        s = stream_new(host);
    pthread_mutex_unlock(&host->lock);
    if (!s)
        return kmm__host_error(KMM_E_MEMORY, "no memory for a stream");
    *out = s;
    return 0;
}

/* Waits until no thread runs the stream: its last notification may have been called while the
 * thread that called it is still in finish(). */
void kmm__host_stream_destroy(kmm__stream_t *s)
{
    if (!s)
        return;
    while (atomic_load_explicit(&s->pending, memory_order_acquire) > 0)
        sched_yield();
    kmm__host_t *host = s->host;
    pthread_mutex_lock(&host->lock);
    s->next_spare = host->spare_streams;
    host->spare_streams = s;
    pthread_mutex_unlock(&host->lock);
}

void kmm__host_stream_free(kmm__stream_t *s)
{
    for (kmm__op_t *op = s->spare; op;) {
        kmm__op_t *next = atomic_load_explicit(&op->next, memory_order_relaxed);
        free(op);
        op = next;
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- Enqueueing ---- */

static kmm__op_t *spare_op(kmm__stream_t *s)
{
    if (s->spare == s->spare_end)
        s->spare_end = atomic_load_explicit(&s->done, memory_order_acquire);
    if (s->spare == s->spare_end)
        return kmm__alloc_line(sizeof(kmm__op_t));
    kmm__op_t *op = s->spare;
    s->spare = atomic_load_explicit(&op->next, memory_order_relaxed);
    return op;
}

kmm__op_t *kmm__op_prepare(kmm__stream_t *s, kmm__op_kind_t kind, size_t bytes)
{
    void *payload = NULL;
    kmm__op_t *op = spare_op(s);
    if (bytes > KMM__OP_INLINE)
        payload = kmm__alloc_line(bytes);
    atomic_store_explicit(&op->next, NULL, memory_order_relaxed);
    op->stream = s;
    op->kind = kind;
    op->payload = payload ? payload : op->inline_payload;
    op->units = 1;
    return op;
}

void kmm__op_enqueue(kmm__stream_t *s, kmm__op_t *op)
{
    atomic_store_explicit(&s->tail->next, op, memory_order_release);
    s->tail = op;
    s->enqueued++;
    if (atomic_fetch_add_explicit(&s->pending, 1, memory_order_acq_rel) == 0)
        kmm__thread_pool_push(&s->host->pool, &s->item);
}

/* ---- Running ---- */

/* Pushes parked streams whose position this stream has reached. */
static void unpark(kmm__stream_t *s)
{
    kmm__stream_t *reached = NULL;
    pthread_mutex_lock(&s->lock);
    uint64_t completed = atomic_load(&s->completed);
    for (kmm__stream_t **at = &s->parked; *at;) {
        kmm__stream_t *waiter = *at;
        if (waiter->parked_position > completed) {
            at = &waiter->parked_next;
            continue;
        }
        *at = waiter->parked_next;
        atomic_fetch_sub(&s->parked_count, 1);
        waiter->parked_next = reached;
        reached = waiter;
    }
    pthread_mutex_unlock(&s->lock);
    while (reached) {
        kmm__stream_t *waiter = reached;
        reached = waiter->parked_next;
        kmm__thread_pool_push(&waiter->host->pool, &waiter->item);
    }
}

/*
 * True if `source` has reached the position. False: s is parked on `source`, and may already be
 * running on another thread.
 *
 * No wake-up is lost. Either this function sees `completed` reach the position, or finish() sees
 * `parked_count`: each writes its own before it reads the other, sequentially consistent.
 */
static bool try_pass(kmm__stream_t *s, kmm__stream_t *source, uint64_t position)
{
    if (atomic_load_explicit(&source->completed, memory_order_acquire) >= position)
        return true;
    pthread_mutex_lock(&source->lock);
    atomic_fetch_add(&source->parked_count, 1);
    bool passed = atomic_load(&source->completed) >= position;
    if (passed) {
        atomic_fetch_sub(&source->parked_count, 1);
    } else {
        s->parked_position = position;
        s->parked_next = source->parked;
        source->parked = s;
    }
    pthread_mutex_unlock(&source->lock);
    return passed;
}

/* Completes an operation of s. False: s is idle now, and no longer held by this thread. */
static bool finish(kmm__stream_t *s, kmm__op_t *op)
{
    if (op->payload != op->inline_payload)
        free(op->payload);
    atomic_store_explicit(&s->done, op, memory_order_release);
    uint64_t completed = atomic_load_explicit(&s->completed, memory_order_relaxed) + 1;
    atomic_store(&s->completed, completed);
    if (atomic_load(&s->parked_count) > 0)
        unpark(s);
    return atomic_fetch_sub_explicit(&s->pending, 1, memory_order_acq_rel) > 1;
}

/* True if the thread leaves the operation to others. A thread that only assists leaves functions of
 * the program to the pool's threads, because they may run for long and need a large stack. */
static bool leaves(kmm__stream_t *s, const kmm__op_t *op, int turn)
{
    if (!kmm__thread_pool_is_assisting())
        return turn >= TURN && atomic_load_explicit(&s->host->pool.ready, memory_order_relaxed) > 0;
    if (op->kind == KMM__OP_CALL)
        kmm__thread_pool_refuse();
    return turn >= TURN || op->kind == KMM__OP_CALL;
}

static void stream_run(kmm__pool_item_t *item)
{
    kmm__stream_t *s = (kmm__stream_t *)item; /* item is the first member */
    for (int turn = 0;; turn++) {
        kmm__op_t *done = atomic_load_explicit(&s->done, memory_order_relaxed);
        kmm__op_t *op = atomic_load_explicit(&done->next, memory_order_acquire);
        assert(op);
        if (leaves(s, op, turn)) {
            kmm__thread_pool_push(&s->host->pool, &s->item);
            return;
        }
        if (op->kind == KMM__OP_WAIT ? !try_pass(s, op->wait.stream, op->wait.position)
                                     : !kmm__op_run(op, &s->host->pool, resume))
            return;
        if (!finish(s, op))
            return;
    }
}

static void resume(kmm__op_t *op)
{
    kmm__stream_t *s = op->stream;
    if (finish(s, op))
        stream_run(&s->item);
}

/* ---- Events ---- */

int kmm__host_event_create(kmm__gpu_t *gpu, kmm__event_t **out)
{
    (void)gpu;
    kmm__event_t *e = calloc(1, sizeof(*e));
    if (!e)
        return kmm__host_error(KMM_E_MEMORY, "no memory for an event");
    pthread_mutex_init(&e->lock, NULL);
    *out = e;
    return 0;
}

void kmm__host_event_destroy(kmm__event_t *e)
{
    if (!e)
        return;
    pthread_mutex_destroy(&e->lock);
    free(e);
}

int kmm__host_event_record(kmm__event_t *e, kmm__stream_t *s)
{
    pthread_mutex_lock(&e->lock);
    e->stream = s;
    e->position = s->enqueued;
    pthread_mutex_unlock(&e->lock);
    return 0;
}

static bool event_reached(kmm__event_t *e, kmm__stream_t **stream, uint64_t *position)
{
    pthread_mutex_lock(&e->lock);
    *stream = e->stream;
    *position = e->position;
    pthread_mutex_unlock(&e->lock);
    return !*stream ||
           atomic_load_explicit(&(*stream)->completed, memory_order_acquire) >= *position;
}

int kmm__host_stream_wait(kmm__stream_t *s, kmm__event_t *e)
{
    kmm__stream_t *source;
    uint64_t position;
    if (event_reached(e, &source, &position) || source == s)
        return 0;
    kmm__op_t *op = kmm__op_prepare(s, KMM__OP_WAIT, 0);
    op->wait.stream = source;
    op->wait.position = position;
    kmm__op_enqueue(s, op);
    return 0;
}

int kmm__host_event_query(kmm__event_t *e)
{
    kmm__stream_t *source;
    uint64_t position;
    return event_reached(e, &source, &position);
}
