/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of each device. It takes ready tasks, by priority and then in the order of submission,
 * and issues them. It also releases the residences of dead arrays, and evicts early. */
#include "execute/device_thread.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/spin.h"
#include "base/thread.h"
#include "base/trace.h"
#include "execute/batch.h"
#include "execute/cpu.h"
#include "execute/failure.h"
#include "execute/stream.h"
#include "memory/disk/page.h"
#include "memory/residency/evict.h"
#include "memory/residency/lookahead.h"
#include "memory/residency/premap.h"
#include "memory/residency/service.h"

void kmm__ready_push(kmm__task_t *t)
{
    /* Host memory is the only memory, and is not limited: no data has to be brought. */
    if (t->part.is_direct && !t->error) {
        kmm__task_issued(t);
        kmm__host_run(t);
        return;
    }
    if (!t->runtime->has_spaces && !kmm__spill_room(t->runtime) && !t->error) {
        kmm__issue_on_host(t);
        return;
    }
    kmm__queue_push(&t->device->queue->ready, t);
    kmm__device_wake(t->device);
}

/* Without waves all ranks are numbers of tasks, and the queue is in the new order already. */
void kmm__ready_await(kmm_runtime_t *rt, uint64_t end, const kmm__task_t *awaited)
{
    kmm__lookahead_end(rt, awaited);
    for (uint32_t k = 0; rt->memory->by_reuse && k < rt->device_count; k++) {
        kmm__device_t *d = rt->device[k];
        if (d->memory->waves)
            kmm__queue_await(&d->queue->ready, end);
        else if (d->space != KMM__HOST)
            d->queue->ready.awaited = end;
    }
}

static void issue(kmm__task_t *t)
{
    if (!t->error && t->device->lost)
        kmm__fail(t, t->device->lost, "its device was lost by an earlier failure");
    if (t->error) {
        kmm__task_finish(t, t->error);
        return;
    }
    if (t->device->space == KMM__HOST)
        kmm__issue_on_host(t);
    else
        kmm__issue_on_stream(t);
}

static void *device_main(void *arg)
{
    kmm__device_t *d = arg;
    kmm_runtime_t *rt = d->runtime;
    KMM__TRACE(.kind = KMM__EVENT_THREAD, .device = d->number, .text = "issues to a device");
    pthread_mutex_lock(&rt->lock);
    /* lingers: after a task was issued, spins before it sleeps, because threads that submit or
     * finish tasks soon make more ready */
    for (bool lingers = false;;) {
        uint64_t seen = d->wakes;
        kmm__frames_service(d);
        kmm__frames_evict_early(d);
        kmm__task_t *t = kmm__ready_pop(d);
        if (t) {
            issue(t);
            lingers = d->backend->kind != KMM_KIND_HOST;
        } else if (rt->stopping) {
            break;
        } else if (d->wakes == seen && lingers) {
            pthread_mutex_unlock(&rt->lock);
            kmm__spin_while(&d->wakes, seen);
            kmm__device_lock(rt);
            lingers = d->wakes != seen;
        } else if (d->wakes == seen) {
            kmm__cond_wait(&d->wake, &rt->lock);
        }
    }
    pthread_mutex_unlock(&rt->lock);
    return NULL;
}

static const kmm__task_t *next_task(const kmm__device_t *d, uint32_t k)
{
    const kmm__queue_t *q = &d->queue->ready;
    return k < q->count ? q->tasks[q->head + k] : NULL;
}

void kmm__device_queue_start(kmm__device_t *d)
{
    d->queue = kmm__alloc(sizeof(*d->queue));
    d->note_fault = kmm__note_fault;
    d->memory->next_task = next_task;
}

int kmm__device_start(kmm__device_t *d)
{
    int error = kmm__device_open(d);
    if (error)
        return error;
    if (kmm__thread_create(&d->queue->thread, device_main, d))
        return kmm__error_set(KMM_E_MEMORY, "no thread for %s", d->info.name);
    d->queue->thread_runs = true;
    return 0;
}

void kmm__device_end(kmm__device_t *d)
{
    if (d->queue->thread_runs)
        pthread_join(d->queue->thread, NULL);
    kmm__premap_stop(d);
    kmm__frames_close(d);
}

void kmm__device_queue_stop(kmm__device_t *d)
{
    free(d->queue->ready.tasks);
    free(d->queue->startable.tasks);
    for (kmm__batch_t *b; (b = d->queue->spare_batches);) {
        d->queue->spare_batches = b->next;
        free(b);
    }
    free(d->queue);
    d->queue = NULL;
}
