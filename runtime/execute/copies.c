/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for copies of a task that no stream of the task waits for. */
#include "execute/copies.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "execute/failure.h"
#include "memory/host/stager.h"
#include "task/ticket.h"

/* A copy to the host that is under way; holds references. */
typedef struct fetched {
    kmm_runtime_t *runtime;
    kmm__ticket_t *ticket;
    kmm__task_t *task;
} fetched_t;

static void copy_out_finished(void *arg, int status)
{
    fetched_t *f = arg;
    pthread_mutex_lock(&f->runtime->lock);
    if (status) {
        kmm__device_lose(f->ticket->device, status);
        kmm__copies_fail(f->task, status);
    }
    if (status && !f->task->error && f->task->work)
        kmm__fail_copy(f->task, status, f->ticket->device);
    kmm__ticket_done(f->ticket);
    kmm__ticket_unref(f->ticket);
    kmm__task_unref(f->task);
    pthread_cond_broadcast(&f->runtime->progress);
    pthread_mutex_unlock(&f->runtime->lock);
    free(f);
}

static void announce_copy_out(kmm__task_t *t, const kmm__move_t *m)
{
    kmm_runtime_t *rt = t->device->runtime;
    fetched_t *f = kmm__alloc(sizeof(*f));
    *f = (fetched_t){rt, m->ticket, t};
    pthread_mutex_lock(&rt->lock);
    kmm__ticket_ref(m->ticket);
    kmm__task_ref(t);
    pthread_mutex_unlock(&rt->lock);
    pthread_mutex_lock(&m->from->out_lock);
    int error = kmm__stage_notify(m->from, copy_out_finished, f);
    pthread_mutex_unlock(&m->from->out_lock);
    if (error)
        copy_out_finished(f, error);
}

void kmm__copies_announce(kmm__task_t *t, const kmm__moves_t *moves)
{
    const kmm__ticket_t **said = NULL; /* far fewer than moves */
    uint32_t count = 0, capacity = 0;
    for (uint32_t k = 0; k < moves->count; k++) {
        const kmm__move_t *m = &moves->move[k];
        bool again = false;
        for (uint32_t j = count; j-- > 0 && !again;)
            again = said[j] == m->ticket;
        if (m->to != NULL || again)
            continue;
        said = kmm__grow(said, count, &capacity, sizeof(*said));
        said[count++] = m->ticket;
        announce_copy_out(t, m);
    }
    free(said);
}

static void copies_drained(void *arg, int status)
{
    kmm__task_t *t = arg;
    kmm_runtime_t *rt = t->runtime;
    pthread_mutex_lock(&rt->lock);
    if (status)
        kmm__device_lose(t->device, status);
    kmm__task_finish_left_fall(t);
    kmm__task_unref(t);
    pthread_mutex_unlock(&rt->lock);
}

void kmm__copies_drain(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->runtime;
    uint32_t count = t->residency.copy_count; /* does not change any more */
    kmm__task_finish_later(t, count);
    for (uint32_t k = 0; k < count; k++) {
        kmm__ticket_t *c = t->residency.copies[k];
        kmm__device_t *d = c->device;
        pthread_mutex_t *lock = c->stream == d->in    ? &d->in_lock
                                : c->stream == d->out ? &d->out_lock
                                                      : &d->peer_lock;
        kmm__task_ref(t);
        pthread_mutex_unlock(&rt->lock);
        pthread_mutex_lock(lock);
        int error = c->stream == d->out ? kmm__stage_notify(d, copies_drained, t)
                                        : d->backend->notify(c->stream, copies_drained, t);
        pthread_mutex_unlock(lock);
        if (error)
            copies_drained(t, error);
        pthread_mutex_lock(&rt->lock);
    }
}
