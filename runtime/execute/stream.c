/* SPDX-License-Identifier: Apache-2.0 */
/* Issues tasks on streams. The device's thread maps and pins a task's frames, plans its copies, and
 * enqueues copies and kernel. It never waits for a task's work, only for memory. */
#include "execute/stream.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/spin.h"
#include "execute/batch.h"
#include "execute/copies.h"
#include "execute/failure.h"
#include "execute/kernel.h"
#include "execute/queue.h"
#include "execute/statements.h"
#include "memory/coherence.h"
#include "memory/disk/pin.h"
#include "memory/residency/acquire.h"
#include "task/ticket.h"

enum { DEVICE_DEPTH = 1024 }; /* tasks on a device's streams at once */

void kmm__device_lock(kmm_runtime_t *rt)
{
    atomic_fetch_add_explicit(&rt->lock_waiters, 1, memory_order_relaxed);
    kmm__spin_lock(&rt->lock);
    atomic_fetch_sub_explicit(&rt->lock_waiters, 1, memory_order_relaxed);
}

/* Not locked: enqueues the copies of a task whose frames are pinned, and makes its stream wait for
 * its predecessors. */
static int enqueue_before(kmm__task_t *t, kmm__moves_t *moves)
{
    kmm__device_t *d = t->device;
    kmm__stream_t *compute_stream = d->compute_streams[t->issue.compute_stream].stream;
    int error = 0;
    /* Copies to the host are enqueued first, and their ends are announced, because a copy to a
     * device may wait on the host for them. */
    if (moves->count) {
        error = kmm__moves_enqueue(moves, true);
        kmm__copies_announce(t, moves);
        int e = kmm__moves_enqueue(moves, false);
        error = error ? error : e;
    }
    if (error) {
        pthread_mutex_lock(&d->runtime->lock);
        kmm__fail_doubt(t, error);
        if (!t->error)
            kmm__fail(t, error, kmm__fail_reason(d, error));
        kmm__copies_fail(t, error);
        pthread_mutex_unlock(&d->runtime->lock);
    }
    for (uint32_t k = 0; k < t->order.wait_count && !error; k++)
        error = kmm__ticket_wait(t->order.waits[k], d, compute_stream);
    return error ? error : t->error;
}

static int launch(kmm__task_t *t)
{
    return kmm__chunks_launch(&t, 1, t->device->compute_streams[t->issue.compute_stream].stream);
}

int kmm__enqueue(kmm__task_t *t, kmm__moves_t *moves)
{
    int error = enqueue_before(t, moves);
    return error ? error : launch(t);
}

/* Enqueues joined tasks of a batch as one kernel launch. If one of them has failed, launches the
 * others one by one. */
static void enqueue_joined(kmm__task_t *const *tasks, uint32_t count, int *errors)
{
    kmm__stream_t *compute_stream =
        tasks[0]->device->compute_streams[tasks[0]->issue.compute_stream].stream;
    kmm__moves_t none = {0};
    bool all = true;
    for (uint32_t k = 0; k < count; k++) {
        errors[k] = enqueue_before(tasks[k], &none);
        all &= !errors[k];
    }
    int error = all ? kmm__chunks_launch(tasks, count, compute_stream) : 0;
    for (uint32_t k = 0; k < count; k++)
        if (!errors[k])
            errors[k] = all ? error : kmm__chunks_launch(tasks + k, 1, compute_stream);
}

static void enqueue_all(kmm__batch_t *b, kmm__moves_t *moves, int errors[KMM__BATCH_TASKS])
{
    uint32_t last = b->count - 1;
    for (uint32_t k = 0, n; k < last + (moves->count == 0); k += n) {
        n = kmm__chunks_join(b->tasks + k, last - k + (moves->count == 0));
        enqueue_joined(b->tasks + k, n, errors + k);
    }
    if (!moves->count)
        return;
    /* not joined: only this task's kernel waits for these copies */
    errors[last] = enqueue_before(b->tasks[last], moves);
    if (b->tasks[last]->device->runtime->stats)
        kmm__batch_starts(b);
    if (!errors[last])
        errors[last] = launch(b->tasks[last]);
}

/* Locked: maps and pins t's frames and plans its copies. `resident`: its frames are known to be
 * mapped. False: t has failed and is finished. */
static bool prepare(kmm__task_t *t, bool resident, kmm__moves_t *moves)
{
    int error = kmm__frames_acquire(t, resident);
    if (error) {
        kmm__device_doubt(t->device, NULL, error);
        kmm__fail(t, error, kmm__error_get());
        kmm__task_finish(t, error);
        return false;
    }
    error = kmm__spill_pin_task(t);
    if (!error)
        error = kmm__coherence_acquire(t, moves);
    if (error)
        kmm__fail(t, error, kmm__error_get());
    return true;
}

/* Not locked: the batch is told when its work is over, by the event of its tickets if there is one:
 * an event costs the driver as much as a small kernel. */
static int batch_notify(kmm__batch_t *b)
{
    const kmm__task_t *t = b->tasks[0];
    const kmm__backend_t *backend = t->device->backend;
    kmm__stream_t *stream = t->device->compute_streams[t->issue.compute_stream].stream;
    const kmm__event_t *event = kmm__ticket_event(t->order.ticket);
    return event && backend->notify_event
               ? backend->notify_event(stream, event, kmm__batch_finished, b)
               : backend->notify(stream, kmm__batch_finished, b);
}

/* Enqueues a batch, of which only the last task may have copies. Locked, unlocks meanwhile. */
static void batch_enqueue(kmm__batch_t *b, kmm__moves_t *moves)
{
    kmm__device_t *d = b->tasks[0]->device;
    kmm_runtime_t *rt = d->runtime;
    int errors[KMM__BATCH_TASKS];
    for (uint32_t k = 0; k < b->count; k++)
        kmm__ticket_arm(b->tasks[k]->order.ticket, k ? b->tasks[0]->order.ticket : NULL);
    kmm__batch_begin(b);
    pthread_mutex_unlock(&rt->lock);
    enqueue_all(b, moves, errors);
    int recorded = kmm__ticket_record(b->tasks[0]->order.ticket);
    for (uint32_t k = 1; k < b->count; k++)
        kmm__ticket_recorded(b->tasks[k]->order.ticket);
    kmm__device_lock(rt);
    for (uint32_t k = 0; k < b->count; k++) {
        int error = errors[k] ? errors[k] : recorded;
        kmm__fail_doubt(b->tasks[k], error);
        if (error && !b->tasks[k]->error)
            kmm__fail(b->tasks[k], error, kmm__fail_reason(d, error));
        kmm__task_issued(b->tasks[k]);
    }
    if (errors[b->count - 1])
        kmm__copies_drain(b->tasks[b->count - 1]);
    kmm__moves_drop(moves);
    pthread_mutex_unlock(&rt->lock);
    int notified = batch_notify(b);
    if (notified)
        kmm__batch_finished(b, notified);
    kmm__device_lock(rt);
}

kmm__task_t *kmm__ready_pop(kmm__device_t *d)
{
    kmm__task_t *first = kmm__queue_first(&d->queue->ready);
    return first && d->queue->in_flight < DEVICE_DEPTH && !kmm__order_is_early(d, first)
               ? kmm__queue_pop(&d->queue->ready)
               : NULL;
}

void kmm__issue_on_stream(kmm__task_t *t)
{
    kmm__device_t *d = t->device;
    kmm__moves_t moves = {0};
    uint64_t bytes, total;
    if (!prepare(t, false, &moves))
        return;
    if (t->work->has_statements) {
        kmm__statements_issue(t, &moves);
        return;
    }
    kmm__batch_t *b = kmm__batch_create(d);
    b->tasks[b->count++] = t;
    bool more = kmm__frames_resident(t, &total) && !kmm__spill_may_wait(d->runtime);
    while (more && moves.count == 0 && b->count < KMM__BATCH_TASKS) {
        kmm__task_t *next = kmm__queue_first(&d->queue->ready);
        more = next && !next->error && !next->work->has_statements &&
               next->issue.compute_stream == t->issue.compute_stream &&
               kmm__frames_resident(next, &bytes) && total + bytes <= KMM__BATCH_BYTES;
        if (more && (next = kmm__ready_pop(d)) && prepare(next, true, &moves)) {
            b->tasks[b->count++] = next;
            total += bytes;
        }
    }
    batch_enqueue(b, &moves);
}
