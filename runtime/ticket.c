/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdlib.h>

#include "internal.h"

static kmm__event_t *event_take(kmm__device_t *d)
{
    kmm__event_t *event = NULL;
    if (d->event_count)
        return d->events[--d->event_count];
    return d->backend->event_create(d->gpu, &event) ? NULL : event;
}

kmm__ticket_t *kmm__ticket_create(kmm__device_t *d, kmm__stream_t *stream)
{
    kmm__ticket_t *t = d->runtime->spare_tickets;
    if (t)
        d->runtime->spare_tickets = t->next;
    else
        t = kmm__alloc(sizeof(*t));
    t->state = KMM__TICKET_PLANNED;
    t->point = NULL;
    t->refs = 1;
    t->error = 0;
    t->device = d;
    t->stream = stream;
    return t;
}

void kmm__ticket_arm(kmm__ticket_t *t, kmm__ticket_t *with)
{
    if (with) {
        t->point = with->point;
    } else {
        t->point = kmm__alloc(sizeof(*t->point));
        t->point->event = event_take(t->device);
    }
    t->point->refs++;
}

void kmm__ticket_ref(kmm__ticket_t *t)
{
    if (t)
        t->refs++;
}

void kmm__ticket_unref(kmm__ticket_t *t)
{
    if (!t || --t->refs)
        return;
    kmm__device_t *d = t->device;
    if (t->point && --t->point->refs == 0) {
        if (t->point->event) {
            d->events = kmm__grow(d->events, d->event_count, &d->event_capacity, sizeof(*d->events));
            d->events[d->event_count++] = t->point->event;
        }
        free(t->point);
    }
    t->next = d->runtime->spare_tickets;
    d->runtime->spare_tickets = t;
}

void kmm__tickets_free(kmm_runtime_t *rt)
{
    while (rt->spare_tickets) {
        kmm__ticket_t *t = rt->spare_tickets;
        rt->spare_tickets = t->next;
        free(t->waiters);
        free(t);
    }
}

void kmm__ticket_add_waiter(kmm__ticket_t *t, kmm__task_t *waiter)
{
    t->waiters = kmm__grow(t->waiters, t->waiter_count, &t->waiter_capacity, sizeof(*t->waiters));
    t->waiters[t->waiter_count++] = waiter;
    kmm__task_ref(waiter);
    waiter->done_left++;
}

void kmm__ticket_done(kmm__ticket_t *t)
{
    if (t->state == KMM__TICKET_DONE)
        return;
    t->state = KMM__TICKET_DONE;
    for (uint32_t k = 0; k < t->waiter_count; k++) {
        kmm__task_t *waiter = t->waiters[k];
        if (--waiter->done_left == 0 && waiter->state == KMM__TASK_ISSUED)
            kmm__host_run(waiter);
        kmm__task_unref(waiter);
    }
    t->waiter_count = 0;
}

int kmm__ticket_record(kmm__ticket_t *t)
{
    int error = t->point->event ? t->device->backend->event_record(t->point->event, t->stream) : KMM_E_DEVICE;
    kmm__ticket_recorded(t);
    return error;
}

void kmm__ticket_recorded(kmm__ticket_t *t)
{
    kmm__ticket_state_t planned = KMM__TICKET_PLANNED;
    atomic_compare_exchange_strong(&t->state, &planned, KMM__TICKET_RECORDED);
}

/* Work that streams cannot wait for: another driver's, or the host's. */
static void wait_on_host(kmm__ticket_t *t)
{
    kmm_runtime_t *rt = t->device->runtime;
    pthread_mutex_lock(&rt->lock);
    while (t->state != KMM__TICKET_DONE)
        pthread_cond_wait(&rt->progress, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
}

/* What should have come with it did not. */
static int lost(const kmm__ticket_t *t)
{
    return t->error ? kmm__error_set(t->error, "data it reads could not be brought to %s: %s", t->device->info.name,
                                     kmm_error_string(t->error)) : 0;
}

int kmm__ticket_wait(kmm__ticket_t *t, kmm__device_t *d, kmm__stream_t *stream)
{
    if (!t)
        return 0;
    if (t->state == KMM__TICKET_DONE)
        return lost(t);
    if (!t->stream || t->device->backend != d->backend) {
        wait_on_host(t);
        return lost(t);
    }
    while (t->state == KMM__TICKET_PLANNED)
        sched_yield();
    if (t->error || t->state == KMM__TICKET_DONE || t->stream == stream)
        return lost(t);
    return d->backend->stream_wait(stream, t->point->event);
}
