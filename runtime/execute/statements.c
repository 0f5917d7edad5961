/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of `task` directives, whose work is statements of the program. */
#include "execute/statements.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "execute/batch.h"
#include "execute/copies.h"
#include "execute/failure.h"
#include "execute/queue.h"
#include "execute/stream.h"
#include "task/ticket.h"

/* ---- Task streams ---- */

int kmm__task_stream_take(kmm__device_t *d)
{
    for (;;) {
        for (uint32_t k = d->compute_stream_count; k < d->compute_stream_count + KMM__TASK_STREAMS;
             k++) {
            kmm__compute_stream_t *compute_stream = &d->compute_streams[k];
            if (compute_stream->is_taken)
                continue;
            int error = compute_stream->stream
                            ? 0
                            : d->backend->stream_create(d->gpu, &compute_stream->stream);
            if (error)
                return kmm__error_set(error, "%s: %s", d->info.name,
                                      d->backend->error_text(d->backend));
            compute_stream->is_taken = true;
            return (int)k;
        }
        /* A task that has a stream waits for no other task stream, so one becomes free. */
        kmm__cond_wait(&d->runtime->progress, &d->runtime->lock);
    }
}

void kmm__task_stream_return(kmm__device_t *d, uint32_t compute_stream)
{
    assert(d->compute_streams[compute_stream].is_taken);
    d->compute_streams[compute_stream].is_taken = false;
    pthread_cond_broadcast(&d->runtime->progress);
}

/* ---- Issue ---- */

void kmm__statements_enter(kmm__task_t *t)
{
    assert(!t->issue.entered && (t->state == KMM__TASK_READY || t->state == KMM__TASK_ISSUED));
    t->issue.entered = true;
    pthread_cond_broadcast(&t->runtime->progress);
}

/* A notification: all that the statements need is on the device. */
static void statements_ready(void *arg, int status)
{
    kmm__task_t *t = arg;
    kmm_runtime_t *rt = t->runtime;
    pthread_mutex_lock(&rt->lock);
    if (status)
        kmm__device_lose(t->device, status);
    if (status && !t->error)
        kmm__fail(t, status, t->device->backend->error_text(t->device->backend));
    kmm__statements_enter(t);
    pthread_mutex_unlock(&rt->lock);
}

static void statements_finished(void *arg, int status)
{
    kmm__task_t *t = arg;
    pthread_mutex_lock(&t->runtime->lock);
    kmm__batch_t *b = t->device->queue->under_way;
    while (b->tasks[0] != t)
        b = b->next;
    pthread_mutex_unlock(&t->runtime->lock);
    kmm__batch_finished(b, status);
}

/* Brings everything a task of the program's own statements needs; the thread that runs them does
 * the rest. */
void kmm__statements_issue(kmm__task_t *t, kmm__moves_t *moves)
{
    kmm__device_t *d = t->device;
    kmm_runtime_t *rt = d->runtime;
    kmm__batch_t *b = kmm__batch_create(t->device); /* freed after statements_finished */
    b->tasks[b->count++] = t;
    kmm__ticket_arm(t->order.ticket, NULL);
    kmm__batch_begin(b);
    pthread_mutex_unlock(&rt->lock);
    int error = kmm__enqueue(t, moves);
    pthread_mutex_lock(&rt->lock);
    kmm__fail_doubt(t, error);
    if (error && !t->error)
        kmm__fail(t, error, kmm__fail_reason(d, error));
    if (error)
        kmm__copies_drain(t);
    kmm__moves_drop(moves);
    if ((d->backend->native && !t->work->on_any_stream) || t->error) {
        kmm__statements_enter(t);
        return;
    }
    pthread_mutex_unlock(&rt->lock);
    error =
        d->backend->notify(d->compute_streams[t->issue.compute_stream].stream, statements_ready, t);
    if (error)
        statements_ready(t, error);
    pthread_mutex_lock(&rt->lock);
}

/* ---- The statements ---- */

int kmm__statements_launch(kmm__task_t *t, const kmm_kernel_t *kernel,
                           const kmm_geometry_t *geometry, void **args)
{
    kmm__backend_t *b = t->device->backend;
    const kmm__task_t *list = t;
    kmm__run_t run = {
        .kernel = kernel, .geometry = *geometry, .args = args, .tasks = &list, .task_count = 1};
    memcpy(run.count, geometry->grid, sizeof(run.count));
    if (kernel->kind != b->kind)
        return kmm__error_set(KMM_E_INVALID,
                              "%s: it was built for another kind of device than the task runs on",
                              kernel->name);
    if (kernel->is_clone && kernel->whole) {
        run.kernel = kernel->whole;
        run.args = args + 1;
    }
    kmm__stream_t *stream = t->device->compute_streams[t->issue.compute_stream].stream;
    int error = b->launch(stream, &run);
    if (!error)
        error = kmm__stream_drain(b, stream); /* later statements may use what it wrote */
    return error ? kmm__error_set(error, "%s: %s", kernel->name, b->error_text(b)) : 0;
}

void kmm__statements_end(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->runtime;
    kmm__device_t *d = t->device;
    kmm__stream_t *stream = d->compute_streams[t->issue.compute_stream].stream;
    if (d->space == KMM__HOST) {
        pthread_mutex_lock(&rt->lock);
        kmm__task_finish(t, 0);
        pthread_mutex_unlock(&rt->lock);
        return;
    }
    int error = t->work->on_any_stream && d->backend->finish ? d->backend->finish(d->gpu) : 0;
    error = error ? error : kmm__ticket_record(t->order.ticket);
    pthread_mutex_lock(&rt->lock);
    kmm__fail_doubt(t, error);
    if (error && !t->error)
        kmm__fail(t, error, d->backend->error_text(d->backend));
    kmm__task_issued(t);
    pthread_mutex_unlock(&rt->lock);
    error = d->backend->notify(stream, statements_finished, t);
    if (error)
        statements_finished(t, error);
}
