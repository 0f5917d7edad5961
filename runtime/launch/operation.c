/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks by which the runtime itself works on arrays in host memory. */
#include "launch/operation.h"

#include "base/error.h"
#include "base/spin.h"
#include "base/thread.h"
#include "base/trace.h"
#include "execute/completion.h"
#include "execute/queue.h"
#include "task/dag.h"
#include "task/marker.h"

int kmm__operation_submit(kmm_runtime_t *rt, const kmm__array_operation_t *op, const char *name,
                          const kmm__access_t *accesses, uint32_t count, kmm__task_t **out_task)
{
    kmm__work_t *w = kmm__work_create(rt);
    w->chunk_count = 1;
    kmm__array_operation_t *own = kmm__work_take(w, sizeof(*own));
    *own = *op;
    w->operation = &own->base;
    w->name = name;
    w->file = op->file;
    w->line = op->line;
    kmm__tasks_settle(rt);
    kmm__task_t *t = kmm__task_create(rt, w, count);
    kmm__work_unref(w); /* the task has a reference of its own */
    for (uint32_t k = 0; k < count; k++) {
        t->accesses[k] = accesses[k];
        if (accesses[k].layout != &accesses[k].array->flat)
            t->accesses[k].layout = kmm__work_layout(w, accesses[k].layout);
        kmm__array_ref(accesses[k].array);
    }
    t->access_count = count;
    t->part.exact = true;
    kmm__task_assign(t, rt->cpu);
    if (out_task) {
        kmm__task_ref(t);
        *out_task = t;
    }
    kmm__program_stream_enter(t, NULL);
    int error = kmm__dag_enter(t);
    kmm__task_fail(t, error);
    kmm__task_release(t);
    return error;
}

static int task_wait(kmm_runtime_t *rt, kmm__task_t *t)
{
    kmm__task_announce(t);
    while (t->state != KMM__TASK_DONE)
        kmm__cond_wait(&rt->progress, &rt->lock);
    int error = t->error;
    kmm__task_unref(t);
    return error;
}

static __attribute__((cold, noinline)) int wait_traced(kmm_runtime_t *rt, kmm__task_t *t)
{
    const char *name = t->work->name;
    const uint64_t begin = kmm__now();
    int error = task_wait(rt, t);
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .text = "wait for work", .file = name, .a = begin);
    return error;
}

int kmm__operation_await(kmm_runtime_t *rt, kmm__task_t *t)
{
    int ran = kmm__tracing() && t->state != KMM__TASK_DONE ? wait_traced(rt, t) : task_wait(rt, t);
    return ran ? kmm__error_tell(rt, ran) : 0;
}
