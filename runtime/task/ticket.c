/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets: their states, their events, and waiting for them. */
#include "task/ticket.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/thread.h"

enum { POLL_NS = 20000 };

static kmm__event_t *event_take(kmm__device_t *d)
{
    kmm__event_t *event = NULL;
    if (d->event_count)
        return d->events[--d->event_count];
    return d->backend->event_create(d->gpu, &event) ? NULL : event;
}

kmm__ticket_t *kmm__ticket_create(kmm__device_t *d, kmm__stream_t *stream)
{
    kmm__ticket_t *t = d->runtime->tasks->spare_tickets;
    if (t)
        d->runtime->tasks->spare_tickets = t->next;
    else
        t = kmm__alloc(sizeof(*t));
    assert(t->refs == 0 && t->waiter_count == 0);
    atomic_init(&t->state, KMM__TICKET_PLANNED);
    t->is_copy = false;
    atomic_init(&t->error, 0);
    t->awaited = false;
    t->shared = NULL;
    t->refs = 1;
    t->device = d;
    t->stream = stream;
    return t;
}

static kmm__shared_event_t *shared_make(kmm__device_t *d)
{
    kmm__shared_event_t *shared = d->runtime->tasks->spare_events;
    if (shared)
        d->runtime->tasks->spare_events = shared->next;
    else
        shared = kmm__alloc(sizeof(*shared));
    *shared = (kmm__shared_event_t){.event = event_take(d)};
    return shared;
}

void kmm__ticket_arm(kmm__ticket_t *t, kmm__ticket_t *with)
{
    assert(t->stream && !t->shared && t->state != KMM__TICKET_RECORDED);
    if (with) {
        t->shared = with->shared;
    } else {
        t->shared = shared_make(t->device);
    }
    t->shared->refs++;
    assert(kmm__ticket_is_valid(t));
}

void kmm__ticket_ref(kmm__ticket_t *t)
{
    if (t)
        t->refs++;
}

void kmm__ticket_unref(kmm__ticket_t *t)
{
    assert(!t || t->refs > 0);
    if (!t || --t->refs)
        return;
    assert(t->waiter_count == 0);
    kmm__device_t *d = t->device;
    if (t->shared && --t->shared->refs == 0) {
        if (t->shared->event) {
            d->events =
                kmm__grow(d->events, d->event_count, &d->event_capacity, sizeof(*d->events));
            d->events[d->event_count++] = t->shared->event;
        }
        t->shared->next = d->runtime->tasks->spare_events;
        d->runtime->tasks->spare_events = t->shared;
    }
    t->next = d->runtime->tasks->spare_tickets;
    d->runtime->tasks->spare_tickets = t;
}

void kmm__tickets_free(kmm_runtime_t *rt)
{
    while (rt->tasks->spare_tickets) {
        kmm__ticket_t *t = rt->tasks->spare_tickets;
        rt->tasks->spare_tickets = t->next;
        free(t->waiters);
        free(t);
    }
    while (rt->tasks->spare_events) {
        kmm__shared_event_t *shared = rt->tasks->spare_events;
        rt->tasks->spare_events = shared->next;
        free(shared);
    }
}

void kmm__ticket_add_waiter(kmm__ticket_t *t, kmm__edge_t waiter)
{
    assert(t->state != KMM__TICKET_DONE && waiter.to->state != KMM__TASK_DONE);
    t->waiters = kmm__grow(t->waiters, t->waiter_count, &t->waiter_capacity, sizeof(*t->waiters));
    t->waiters[t->waiter_count++] = waiter;
    kmm__task_ref(waiter.to);
    if (waiter.to->device->space == KMM__HOST)
        kmm__task_run_later(waiter.to, 1);
    else
        kmm__task_finish_later(waiter.to, 1);
}

/* Poisons `waiter`, which needs a copy that was not made, and fails the copies that were made for
 * it from there. */
static void poison(kmm__task_t *waiter, int error)
{
    kmm__copies_fail(waiter, error);
    kmm__task_fail(waiter, KMM_E_POISONED);
}

void kmm__ticket_done(kmm__ticket_t *t)
{
    if (t->state == KMM__TICKET_DONE)
        return;
    if (!t->error && t->is_copy)
        t->error = t->device->lost;
    atomic_store_explicit(&t->state, KMM__TICKET_DONE, memory_order_release);
    for (uint32_t k = 0; k < t->waiter_count; k++) {
        kmm__task_t *waiter = t->waiters[k].to;
        if (t->error && t->waiters[k].data)
            poison(waiter, t->error);
        if (waiter->device->space != KMM__HOST)
            kmm__task_finish_left_fall(waiter);
        else if (kmm__task_run_left_fall(waiter) && waiter->state == KMM__TASK_ISSUED)
            waiter->runtime->tasks->hooks->runnable(waiter);
        kmm__task_unref(waiter);
    }
    t->waiter_count = 0;
    assert(kmm__ticket_is_valid(t));
    if (t->awaited)
        pthread_cond_broadcast(&t->device->runtime->progress);
}

void kmm__copies_fail(kmm__task_t *t, int error)
{
    for (uint32_t k = 0; k < t->residency.copy_count; k++) {
        kmm__ticket_t *copy = t->residency.copies[k];
        if (copy->state != KMM__TICKET_DONE && !copy->error)
            copy->error = error;
    }
}

int kmm__ticket_record(kmm__ticket_t *t)
{
    int error = t->shared->event ? t->device->backend->event_record(t->shared->event, t->stream)
                                 : KMM_E_MEMORY;
    t->shared->failed = error != 0;
    kmm__ticket_recorded(t);
    return error;
}

kmm__event_t *kmm__ticket_event(const kmm__ticket_t *t)
{
    return t->shared && !t->shared->failed ? t->shared->event : NULL;
}

void kmm__ticket_recorded(kmm__ticket_t *t)
{
    kmm__ticket_state_t old = KMM__TICKET_PLANNED;
    assert(t->shared);
    bool planned = atomic_compare_exchange_strong(&t->state, &old, KMM__TICKET_RECORDED);
    assert(planned || old == KMM__TICKET_DONE);
    (void)planned;
}

bool kmm__ticket_is_valid(const kmm__ticket_t *t)
{
    bool valid = t->refs > 0 && t->waiter_count <= t->waiter_capacity &&
                 (!t->shared || (t->shared->refs > 0 && t->stream));
    switch ((kmm__ticket_state_t)t->state) {
    case KMM__TICKET_PLANNED: return valid;
    case KMM__TICKET_RECORDED: return valid && t->shared;
    case KMM__TICKET_DONE: return valid && t->waiter_count == 0;
    }
    return false;
}

/* Waits for work that no stream can wait for: another driver's, the host's, or work without an
 * event. */
static void wait_on_host(kmm__ticket_t *t)
{
    kmm_runtime_t *rt = t->device->runtime;
    pthread_mutex_lock(&rt->lock);
    t->awaited = true;
    while (t->state != KMM__TICKET_DONE)
        kmm__cond_wait(&rt->progress, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
}

void kmm__ticket_settle(kmm__ticket_t *t)
{
    if (t && t->state != KMM__TICKET_DONE)
        wait_on_host(t);
}

void kmm__ticket_poll(const kmm__ticket_t *t)
{
    const struct timespec nap = {0, POLL_NS};
    while (t && t->state == KMM__TICKET_RECORDED && !t->shared->failed &&
           t->device->backend->event_query(t->shared->event) == 0)
        nanosleep(&nap, NULL);
}

bool kmm__ticket_await(kmm__ticket_t *t, kmm__device_t *d, kmm__stream_t *stream)
{
    if (!t || t->state == KMM__TICKET_DONE)
        return true;
    bool other = !t->stream || t->device->backend != d->backend;
    while (!other && t->state == KMM__TICKET_PLANNED)
        sched_yield();
    if (!other && t->stream == stream)
        return true;
    if (other || (t->state == KMM__TICKET_RECORDED && t->shared->failed))
        wait_on_host(t);
    return t->state == KMM__TICKET_DONE;
}

int kmm__ticket_wait(kmm__ticket_t *t, kmm__device_t *d, kmm__stream_t *stream)
{
    if (kmm__ticket_await(t, d, stream))
        return 0;
    return d->backend->stream_wait(stream, t->shared->event);
}
