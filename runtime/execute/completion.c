/* SPDX-License-Identifier: Apache-2.0 */
/* Completion: a task that is done gives back frames, pages of host memory, copies and accesses. */
#include "execute/completion.h"

#include "execute/cpu.h"
#include "execute/device_thread.h"
#include "memory/coherence.h"
#include "memory/disk/pin.h"
#include "memory/lifetime.h"
#include "memory/residency/foresight.h"
#include "memory/residency/frame.h"

static void memory_release(kmm__task_t *t)
{
    if (!t->part.is_direct) { /* a direct task has no frames, pages or copies */
        kmm__uses_cancel(t);
        kmm__frames_release(t);
        kmm__spill_unpin_task(t);
    }
    if (!t->work->operation && !t->work->is_own && !t->error)
        kmm__count_locked(&t->device->counters.chunks, t->part.last_chunk - t->part.chunk + 1);
}

static void accesses_drop(kmm__task_t *t)
{
    for (uint32_t k = 0; k < t->access_count; k++) {
        kmm__task_leave_object(t, k);
        kmm__array_unref(t->accesses[k].array);
    }
    t->accesses = NULL;
    t->access_count = 0;
}

void kmm__tasks_settle(kmm_runtime_t *rt)
{
    kmm__work_t *w;
    for (kmm__task_t *t; (t = kmm__task_take_unsettled(rt, &w));) {
        accesses_drop(t);
        kmm__work_unref(w);
    }
}

/* Drops t's accesses and its work. For a direct task this is put off, unless the program has freed
 * an array, which may wait for it. */
static void work_leave(kmm__task_t *t)
{
    kmm_runtime_t *rt = t->runtime;
    kmm__work_t *w = t->work;
    if (!t->part.is_direct)
        kmm__coherence_release(t);
    if (t->part.is_direct && rt->memory->forgotten == 0) {
        kmm__task_put_unsettled(t);
        return;
    }
    t->work = NULL;
    accesses_drop(t);
    kmm__work_unref(w);
}

const kmm__task_hooks_t kmm__execute_hooks = {
    .ready = kmm__ready_push,
    .await = kmm__ready_await,
    .runnable = kmm__host_run,
    .done = memory_release,
    .left = work_leave,
    .settle = kmm__tasks_settle,
    .arrived = kmm__host_arrived,
};
