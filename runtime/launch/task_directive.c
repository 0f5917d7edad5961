/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that consist of the program's own statements, such as library calls or several launches.
 * The task waits in the DAG like a chunk. When the device's thread has brought its data and ordered
 * its stream, the calling thread runs the statements.
 */
#include "launch/task_directive.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "execute/completion.h"
#include "execute/queue.h"
#include "execute/statements.h"
#include "launch/fit.h"
#include "launch/gate.h"
#include "launch/host_uses.h"
#include "launch/items.h"
#include "launch/join.h"
#include "launch/nodes.h"
#include "launch/submission.h"
#include "launch/submit.h"
#include "memory/residency/foresight.h"
#include "memory/residency/native.h"
#include "task/dag.h"
#include "task/inside.h"
#include "task/marker.h"

struct kmm_task {
    kmm__submission_t submission;
    kmm__task_t *task;     /* a reference; NULL: not created yet */
    kmm__marker_t *before; /* the position in the order of submission before this task */
    bool names_stream;     /* the statements use the task's stream */
    void *
        *used; /* driver's handles of other streams of the program that the statements have used */
    uint32_t used_count, used_capacity;
    bool entered;       /* the device was made current for the statements */
    void *stream;       /* the program's */
    int compute_stream; /* number of the task's stream on its device; negative: none yet */
};

static _Thread_local kmm_task_t *current;

KMM__API int kmm_task_active(void)
{
    return current != NULL;
}

/* Chooses the device of the task: the one that its directive names, else the one that the driver
 * has current. The first device decides on the kind. On the CPU, statements run in host memory,
 * also where the CPU stands in for devices with memory of their own: mapped arrays lie at their own
 * addresses there, so whatever leads to them is right. */
static int choose_device(kmm__submission_t *s)
{
    kmm_launch_t *l = s->l;
    kmm__backend_t *b = s->rt->device[0]->backend;
    s->kind = l->where == KMM_ON_HOST ? KMM_KIND_HOST : b->kind;
    if (l->where == KMM_ON_ALL && b->current) {
        l->where = KMM_ON_DEVICE;
        l->ordinal[l->ordinal_count++] = b->current(b);
    }
    if (l->ordinal_count > 1)
        return kmm__submission_refuse(s, KMM_E_INVALID, "a task runs on one device");
    int error = kmm__place_devices(l, s->kind, false, &s->placement);
    if (error)
        return kmm__submission_refuse(s, error, kmm__error_get());
    if (s->kind == KMM_KIND_HOST)
        s->placement.device[0] = s->rt->cpu;
    return 0;
}

static int enter_dag(kmm_task_t *task, void *stream)
{
    kmm__submission_t *s = &task->submission;
    kmm__chunk_box_t box;
    kmm__partition_whole(&s->part, s->l, &box);
    kmm__tasks_settle(s->rt);
    kmm__task_t *t = kmm__task_create(s->rt, s->work, s->l->item_count + 1);
    t->priority = s->l->priority;
    task->task = t;
    kmm__task_ref(t);
    int error = kmm__submission_plan(s, t, &box);
    kmm__task_assign_stream(t, s->placement.device[0], (uint32_t)task->compute_stream);
    kmm__program_stream_enter(t, stream);
    if (!error)
        error = kmm__dag_enter(t);
    kmm__task_fail(t, error);
    kmm__uses_expect(t);
    kmm__task_release(t);
    return error;
}

/* In its statements, one pointer stands for all items with the same base. Where arrays have
 * windows, it cannot reach two of them. */
static int check_bases(const kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    for (uint32_t k = 0; k < l->item_count && s->placement.device[0]->space != KMM__HOST; k++)
        for (uint32_t j = 0; j < k; j++) {
            const kmm__item_t *a = &l->items[j], *b = &l->items[k];
            if (a->base == b->base && a->array && b->array && a->array != b->array)
                return kmm__submission_refuse_item(
                    s, b, KMM_E_ADDRESS,
                    "it lies in another array than an item before it that has the same base; give "
                    "them bases of their own, or map their memory as one");
        }
    return 0;
}

/* Finds its arrays, and whether it has room for them. */
static int resolve(kmm_task_t *task)
{
    static const uint32_t one[3] = {1, 1, 1};
    kmm__submission_t *s = &task->submission;
    kmm__partition(s->l, one, one, true, &s->part);
    s->work->has_statements = true;
    s->work->on_any_stream = !task->names_stream;
    s->work->chunk_count = 1;
    int error = kmm__submission_resolve(s);
    if (!error)
        error = check_bases(s);
    error = error ? error : kmm__submission_fits(s);
    return error || !s->rt->checks_access ? error : kmm__host_uses_check(s);
}

/* Locked: until the statements may run, or never will. While they run, they are code of the host,
 * for which no synchronization of another thread waits: the statements may wait for that thread. */
static int await_entry(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->runtime;
    kmm__task_announce(t);
    while (!t->issue.entered && t->state != KMM__TASK_DONE)
        kmm__cond_wait(&rt->progress, &rt->lock);
    if (t->error)
        return kmm__error_tell(rt, t->error);
    kmm__program_stream_leave(t);
    return 0;
}

static int begin(kmm_task_t *task, void *stream)
{
    kmm__submission_t *s = &task->submission;
    kmm_runtime_t *rt = s->rt;
    if (!rt)
        return kmm__error_set(KMM_E_NO_DEVICE, "there is no runtime");
    if (kmm__is_inside())
        return kmm__submission_refuse(s, KMM_E_STATE, "a task inside a task");
    if (s->l->error)
        return kmm__submission_refuse(s, s->l->error, s->l->error_text);
    for (uint32_t k = 0; k < s->l->item_count; k++)
        if (s->l->items[k].mode == KMM_REDUCE)
            return kmm__submission_refuse(s, KMM_E_INVALID, "a task has no reductions");
    KMM__NATIVE_HOLD(error, rt, "a task directive");
    if (error)
        return kmm__submission_refuse(s, error, kmm__error_get());
    error = choose_device(s);
    if (error)
        return error;
    const kmm__nodes_hooks_t *nodes = kmm__nodes_of(rt);
    kmm__stream_follow(rt, stream);
    kmm__marker_create(rt, &kmm__all_streams, &task->before);
    pthread_mutex_lock(&rt->lock);
    s->work = kmm__submission_work(s);
    error = resolve(task);
    if (!error && nodes) {
        pthread_mutex_unlock(&rt->lock);
        error = nodes->launch(s);
        nodes->launched(rt);
        pthread_mutex_lock(&rt->lock);
    }
    if (!error)
        task->compute_stream = error = kmm__task_stream_take(s->placement.device[0]);
    if (error >= 0)
        error = enter_dag(task, stream);
    if (!error)
        error = await_entry(task->task);
    kmm__work_unref(s->work);
    pthread_mutex_unlock(&rt->lock);
    return error;
}

static void task_free(kmm_task_t *task)
{
    kmm_runtime_t *rt = task->submission.rt;
    kmm__marker_release(task->before);
    free(task->used);
    if (rt)
        pthread_mutex_lock(&rt->lock);
    if (task->compute_stream >= 0)
        kmm__task_stream_return(task->submission.placement.device[0],
                                (uint32_t)task->compute_stream);
    if (task->task)
        kmm__task_unref(task->task);
    if (rt)
        pthread_mutex_unlock(&rt->lock);
    kmm__launch_free(task->submission.l);
    free(task);
}

/* Frees a task whose statements will not run. */
static void give_up(kmm_task_t *task)
{
    kmm__task_t *t = task->task;
    if (t && t->issue.entered)
        kmm__statements_end(t);
    if (task->submission.mapped_count)
        kmm__submission_unmap(&task->submission);
    task_free(task);
}

KMM__API kmm_task_t *kmm_task_begin(kmm_launch_t *l, void *stream, void **task_stream)
{
    kmm_task_t *task = kmm__alloc(sizeof(*task));
    const char *file = l->file;
    int line = l->line;
    task->compute_stream = -1;
    task->names_stream = task_stream != NULL;
    task->stream = stream;
    kmm__launch_join(l);
    task->submission = (kmm__submission_t){.l = l, .rt = l->runtime, .annotated = true};
    kmm__gate_enter(l->runtime);
    int error = begin(task, stream);
    kmm__gate_leave();
    if (task_stream)
        *task_stream = NULL;
    if (error) {
        give_up(task);
        kmm_directive_check(error, file, line);
        return NULL;
    }
    kmm__device_t *d = task->task->device;
    if (task_stream && d->backend->native)
        *task_stream =
            d->backend->native(d->compute_streams[task->task->issue.compute_stream].stream);
    if (d->backend->enter)
        task->entered = d->backend->enter(d->gpu);
    current = task;
    kmm__host_uses_task(&task->submission, true);
    kmm__inside_enter(task->task);
    KMM__TRACE_TASK(KMM__EVENT_CALL_BEGIN, task->task, 0);
    return task;
}

/* ---- Calls that the statements make ---- */

int kmm__task_directive_settle(void)
{
    return current ? kmm__marker_wait(current->before) : 0;
}

bool kmm__task_directive_reaches(const void *address)
{
    const kmm__task_t *t = kmm__inside_task();
    bool reaches = false;
    if (!t || t->device->space != KMM__HOST)
        return false;
    pthread_mutex_lock(&t->runtime->lock);
    const kmm__array_t *a = kmm__array_find(t->runtime, address);
    for (uint32_t k = 0; k < t->access_count && a; k++)
        reaches |= t->accesses[k].array == a && a->host == a->base;
    pthread_mutex_unlock(&t->runtime->lock);
    return reaches;
}

static kmm__stream_t *stream_of(const kmm_task_t *task)
{
    return task->task->device->compute_streams[task->task->issue.compute_stream].stream;
}

/* Waits for all work on the task's device. If that fails, so does the task. */
static void finish_all(const kmm_task_t *task)
{
    kmm__task_t *t = task->task;
    const kmm__backend_t *b = t->device->backend;
    char where[320];
    int error = b->finish(t->device->gpu);
    if (!error)
        return;
    pthread_mutex_lock(&t->runtime->lock);
    kmm__task_describe(t, where, sizeof(where));
    kmm__task_fail(t, error);
    kmm__error_note(t->runtime, error, "%s: %s", where, b->error_text(t->device->backend));
    pthread_mutex_unlock(&t->runtime->lock);
}

/* Makes the task's stream wait for the work that the statements have put on other streams so far.
 */
static void join_used(kmm_task_t *task)
{
    const kmm__device_t *d = task->task->device;
    for (uint32_t k = 0; k < task->used_count; k++)
        if (d->backend->succeed(stream_of(task), task->used[k]))
            finish_all(task);
    task->used_count = 0;
}

static void use(kmm_task_t *task, void *native)
{
    const kmm__device_t *d = task->task->device;
    for (uint32_t k = 0; k < task->used_count; k++)
        if (task->used[k] == native)
            return;
    if (d->backend->precede(stream_of(task), native))
        finish_all(task);
    task->used = kmm__grow(task->used, task->used_count, &task->used_capacity, sizeof(*task->used));
    task->used[task->used_count++] = native;
}

KMM__API void *kmm_task_stream(void *stream)
{
    kmm_task_t *task = current;
    const kmm__backend_t *b = task && task->names_stream ? task->task->device->backend : NULL;
    if (!b || !b->succeed)
        return stream;
    void *own = b->native(stream_of(task));
    if (stream == own)
        return own;
    if (!kmm__stream_is_default(stream)) {
        use(task, stream);
        return stream;
    }
    join_used(task);
    return own;
}

/* The item whose base this is, which need not lie in the item's array; NULL: none has it. */
static const kmm__item_t *item_of(const kmm_task_t *task, const void *base)
{
    const kmm_launch_t *l = task->submission.l;
    const kmm__item_t *found = NULL;
    for (uint32_t k = 0; k < l->item_count; k++)
        if (l->items[k].base == base && (!found || !found->array))
            found = &l->items[k];
    return found;
}

/* The array that contains the address, if an access of the task names it; otherwise NULL. */
static kmm__array_t *array_of(const kmm__task_t *t, const void *address)
{
    kmm__array_t *a = kmm__array_find(t->runtime, address);
    for (uint32_t k = 0; k < t->access_count && a; k++)
        if (t->accesses[k].array == a)
            return a;
    return NULL;
}

KMM__API void *kmm_task_pointer(kmm_task_t *task, const void *base)
{
    if (!task)
        return NULL;
    kmm__task_t *t = task->task;
    kmm_runtime_t *rt = t->runtime;
    const kmm__item_t *item = item_of(task, base);
    char *found = item ? item->base : NULL; /* of an item without elements: no statement uses it */
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = item && item->array ? item->array : array_of(t, base);
    if (a) {
        char *at = t->device->space == KMM__HOST
                       ? a->host
                       : (char *)(uintptr_t)a->residence[t->device->index].window;
        found = at + ((const char *)base - a->base);
    }
    pthread_mutex_unlock(&rt->lock);
    if (!found) {
        int error =
            kmm__error_set(KMM_E_ADDRESS, "%p is in no array that the task's clauses name", base);
        kmm_directive_check(error, task->submission.l->file, task->submission.l->line);
    }
    return found;
}

KMM__API void kmm_task_end(kmm_task_t *task)
{
    if (!task)
        return;
    kmm__device_t *d = task->task->device;
    const char *file = task->submission.l->file;
    int line = task->submission.l->line;
    join_used(task);
    current = NULL;
    KMM__TRACE_TASK(KMM__EVENT_CALL_END, task->task, 0);
    kmm__inside_leave();
    kmm__host_uses_task(&task->submission, false);
    if (d->backend->leave)
        d->backend->leave(task->entered);
    if (d->space != KMM__HOST) { /* what they have enqueued may still run */
        pthread_mutex_lock(&d->runtime->lock);
        kmm__program_stream_return(task->task, task->stream);
        pthread_mutex_unlock(&d->runtime->lock);
    }
    kmm__statements_end(task->task);
    int error = kmm__submission_unmap(&task->submission);
    task_free(task);
    kmm_directive_check(error, file, line);
}
