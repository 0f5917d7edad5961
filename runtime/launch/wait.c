/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for all work on one array, or on a part of it; or for that of a launch. */
#include "launch/wait.h"

#include <stdlib.h>

#include <kmm/launch.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/flags.h"
#include "execute/exact_host.h"
#include "launch/operation.h"
#include "launch/state.h"
#include "memory/lifetime.h"
#include "task/inside.h"
#include "task/marker.h"
#include "task/users.h"

typedef struct pending {
    kmm__task_t **task;
    uint32_t count, capacity;
} pending_t;

static void pending_add(pending_t *p, kmm__task_t *t)
{
    if (!t || (t->state == KMM__TASK_DONE && !t->error) || (p->count && p->task[p->count - 1] == t))
        return;
    p->task = kmm__grow(p->task, p->count, &p->capacity, sizeof(*p->task));
    p->task[p->count++] = t;
    kmm__task_ref(t);
}

static int pending_part(void *arg, const kmm__box_t *part, const void *value)
{
    const kmm__users_t *u = value;
    (void)part;
    pending_add(arg, u->writer);
    for (uint32_t k = 0; k < u->reader_count; k++)
        pending_add(arg, kmm__users_readers(u)[k]);
    return 0;
}

int kmm__bytes_await(kmm_runtime_t *rt, kmm__array_t *a, int64_t begin, int64_t end)
{
    pending_t p = {0};
    kmm__box_t boxes[2 * KMM__DIMS];
    kmm__access_t whole = kmm__access_bytes(a, KMM_READ, begin, end);
    int error = 0, n = kmm__object_boxes(&a->object, &whole, boxes);
    for (int b = 0; b < n; b++)
        kmm__map_visit(a->object.users.map, &boxes[b], pending_part, &p);
    for (uint32_t k = 0; k < a->object.reads.count; k++)
        pending_add(&p, a->object.reads.list[k].task);
    for (uint32_t k = 0; k < p.count; k++) {
        int e = kmm__operation_await(rt, p.task[k]);
        error = error ? error : e;
    }
    free(p.task);
    return error;
}

int kmm__array_await(kmm_runtime_t *rt, kmm__array_t *a)
{
    return kmm__bytes_await(rt, a, 0, (int64_t)a->bytes);
}

KMM__API int kmm_wait_array(kmm_runtime_t *rt, const void *address)
{
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    if (kmm__inside_refuse("wait"))
        return KMM_E_STATE;
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, address);
    void *deferred = NULL;
    int error = 0;
    if (a) {
        kmm__array_ref(a); /* another thread may end its map meanwhile */
        error = kmm__array_await(rt, a);
        deferred = a->is_deferred ? a->base : NULL;
        rt->launches->deferred -= a->is_deferred;
        a->is_deferred = false;
        kmm__array_unref(a);
    }
    pthread_mutex_unlock(&rt->lock);
    kmm__exact_host_wait();
    kmm__flags_settle(kmm_thread_number());
    int unmapped = deferred ? kmm_unmap(rt, deferred) : 0,
        touched = deferred ? kmm__exact_host_leave(deferred) : 0;
    error = error ? error : unmapped;
    return error ? error : touched;
}

/* Tasks that access no array are not among an array's users. They are waited for by the program
 * stream, with all before them on it. Their errors stay for kmm_wait. */
static int await_stream(const kmm__submission_t *s)
{
    kmm__marker_t *m;
    if (kmm__inside_refuse("the launch"))
        return KMM_E_STATE;
    kmm__marker_create(s->rt, s->geometry.stream, &m);
    kmm__marker_wait(m);
    kmm__marker_release(m);
    return 0;
}

int kmm__submission_await(const kmm__submission_t *s)
{
    int error = s->is_loose ? await_stream(s) : 0;
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__array_t *a = s->l->items[k].array;
        int e = a ? kmm_wait_array(s->rt, a->base) : 0;
        error = error ? error : e;
    }
    return error;
}
