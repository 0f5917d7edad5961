/* SPDX-License-Identifier: Apache-2.0 */
/* Marks on streams, by notifications. */
#include "backend/mark.h"

#include <sched.h>
#include <stdlib.h>

#include "base/alloc.h"

typedef struct mark {
    kmm__device_t *device;
    kmm__event_t event;
} mark_t;

static void reached_at(void *arg, int status, uint64_t time)
{
    mark_t *m = arg;
    kmm__device_t *d = m->device;
    (void)status; /* the notification of the work itself reports it */
    m->event.at = time;
    kmm__trace_push(&m->event);
    free(m);
    atomic_fetch_sub(&d->marks, 1);
}

static void reached(void *arg, int status)
{
    reached_at(arg, status, 0);
}

void kmm__stream_mark(kmm__device_t *d, kmm__stream_t *s, const kmm__event_t *event)
{
    const kmm__backend_t *b = d->backend;
    mark_t *m = kmm__alloc(sizeof(*m));
    *m = (mark_t){d, *event};
    m->event.device = d->number;
    atomic_fetch_add(&d->marks, 1);
    int error = b->notify_timed ? b->notify_timed(s, reached_at, m) : b->notify(s, reached, m);
    if (error)
        reached(m, error);
}

void kmm__marks_await(const kmm__device_t *d)
{
    while (atomic_load(&d->marks))
        sched_yield();
}
