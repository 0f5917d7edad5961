/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that are issued together, from their issue to their end. */
#include "execute/batch.h"

#include <stdlib.h>

#include "base/spin.h"
#include "execute/failure.h"
#include "execute/queue.h"

void kmm__batch_begin(kmm__batch_t *b)
{
    kmm__device_t *d = b->tasks[0]->device;
    *(d->queue->under_way ? &d->queue->under_way_last->next : &d->queue->under_way) = b;
    d->queue->under_way_last = b;
    d->queue->in_flight += b->count;
}

/* Those of a stream end in their order, so it is among the first. */
static void batch_end(kmm__batch_t *b)
{
    kmm__device_t *d = b->tasks[0]->device;
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
    pthread_mutex_unlock(&rt->lock);
    free(b);
}
