/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: from issue to the end of their work. */
#include "execute/batch.h"

#include "base/alloc.h"
#include "base/spin.h"
#include "base/valid.h"
#include "execute/failure.h"
#include "execute/queue.h"

#ifndef NDEBUG
static bool is_under_way(const kmm__device_t *d, const kmm__batch_t *b)
{
    const kmm__batch_t *at = d->queue->under_way;
    while (at && at != b)
        at = at->next;
    return at != NULL;
}

/* True if in_flight counts the tasks of the batches under way, and each batch is of one device and
 * one compute stream. */
static bool under_way_is_valid(const kmm__device_t *d)
{
    uint32_t tasks = 0;
    const kmm__batch_t *last = NULL;
    bool valid = true;
    for (const kmm__batch_t *b = d->queue->under_way; b && valid; last = b, b = b->next) {
        valid = b->count > 0 && b->count <= KMM__BATCH_TASKS;
        tasks += b->count;
        for (uint32_t k = 0; valid && k < b->count; k++)
            valid = b->tasks[k]->device == d && b->tasks[k]->state != KMM__TASK_DONE &&
                    b->tasks[k]->issue.compute_stream == b->tasks[0]->issue.compute_stream;
    }
    return valid && tasks == d->queue->in_flight && (!last || last == d->queue->under_way_last);
}
#endif

kmm__batch_t *kmm__batch_create(kmm__device_t *d)
{
    kmm__batch_t *b = d->queue->spare_batches;
    if (!b)
        return kmm__alloc(sizeof(*b));
    d->queue->spare_batches = b->next;
    b->next = NULL;
    b->count = 0;
    return b;
}

void kmm__batch_begin(kmm__batch_t *b)
{
    kmm__device_t *d = b->tasks[0]->device;
    assert(b->count > 0 && !b->next && !is_under_way(d, b));
    *(d->queue->under_way ? &d->queue->under_way_last->next : &d->queue->under_way) = b;
    d->queue->under_way_last = b;
    d->queue->in_flight += b->count;
    if (d->runtime->stats) {
        atomic_store(&b->early, 0);
        atomic_store(&b->began, kmm__now());
    }
    KMM__ASSERT_SOMETIMES(under_way_is_valid(d));
}

/* A notification: what is enqueued behind it runs from now on. */
static void batch_started(void *arg, int status)
{
    kmm__batch_t *b = arg;
    atomic_store(&b->early, status);
    atomic_store(&b->began, kmm__now());
}

void kmm__batch_starts(kmm__batch_t *b)
{
    const kmm__task_t *t = b->tasks[0];
    const kmm__device_t *d = t->device;
    d->backend->notify(d->compute_streams[t->issue.compute_stream].stream, batch_started, b);
}

/* Counts the time in which the batch ran: since the batch before it ended, or it could run. */
static void batch_count(const kmm__batch_t *b)
{
    kmm__device_t *d = b->tasks[0]->device;
    uint64_t now = kmm__now(), began = atomic_load(&b->began);
    began = began > d->queue->ran_until ? began : d->queue->ran_until;
    kmm__count(&d->counters.run_ns, now - began);
    d->queue->ran_until = now;
}

/* Removes the batch from those under way. Batches of one stream end in the order of issue, so it is
 * among the first. */
static void batch_end(kmm__batch_t *b)
{
    kmm__device_t *d = b->tasks[0]->device;
    assert(is_under_way(d, b));
    KMM__ASSERT_SOMETIMES(under_way_is_valid(d));
    kmm__batch_t **at = &d->queue->under_way, *before = NULL;
    for (; *at != b; at = &(*at)->next)
        before = *at;
    *at = b->next;
    if (d->queue->under_way_last == b)
        d->queue->under_way_last = before;
    d->queue->in_flight -= b->count;
}

void kmm__batch_finished(void *arg, int status)
{
    kmm__batch_t *b = arg;
    kmm__device_t *d = b->tasks[0]->device;
    kmm_runtime_t *rt = d->runtime;
    kmm__spin_lock(&rt->lock);
    if (rt->stats) {
        batch_count(b);
        status = status ? status : atomic_load(&b->early);
    }
    if (status)
        kmm__device_lose(d, status);
    batch_end(b);
    for (uint32_t k = 0; k < b->count; k++) {
        kmm__task_t *t = b->tasks[k];
        if (status && !t->error)
            kmm__fail(
                t, status,
                b->count > 1
                    ? "this chunk, or one that was issued together with it, failed on the device"
                    : d->backend->error_text(d->backend));
        kmm__task_finish(t, status);
    }
    kmm__device_wake(d);
    b->next = d->queue->spare_batches;
    d->queue->spare_batches = b;
    pthread_mutex_unlock(&rt->lock);
}
