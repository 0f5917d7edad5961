/* SPDX-License-Identifier: Apache-2.0 */
/* Hands tasks to a backend. Chunks of one launch that are ready at the same time on one device
 * become one kernel launch if their blocks together are a box. The driver's cost of a launch is
 * then paid once. */
#include "execute/kernel.h"

#include <string.h>

#include "backend/mark.h"
#include "base/flags.h"
#include "base/range.h"
#include "base/rounding.h"
#include "execute/check.h"
#include "execute/exact_device.h"
#include "execute/failure.h"
#include "execute/stored.h"
#include "memory/array.h"
#include "task/traced.h"

/* ---- Arguments ---- */

uint64_t kmm__chunk_address(const kmm__task_t *t, const kmm__array_t *a)
{
    if (t->issue.check)
        return kmm__check_base(t->issue.check, a);
    return t->device->space == KMM__HOST ? (uint64_t)(uintptr_t)a->host
                                         : a->residence[t->device->index].window;
}

/* The value of a pointer argument where the task runs. */
static uint64_t pointer_value(const kmm__task_t *t, const kmm__pointer_t *p)
{
    const kmm__array_t *a = p->array;
    int64_t offset = p->offset;
    if (p->partials >= 0) {
        const kmm__partials_t *own = &t->work->partials[p->partials];
        a = own->array;
        offset += kmm__partial_of(t->work, own, t->part.chunk) * own->partial_bytes - own->begin;
    }
    return kmm__chunk_address(t, a) + (uint64_t)offset;
}

void kmm__arguments_write(const kmm__task_t *t, unsigned char *packed)
{
    const kmm__work_t *w = t->work;
    if (w->args_bytes)
        memcpy(packed, w->args, w->args_bytes);
    for (uint32_t k = 0; k < w->pointer_count && !w->is_translated; k++) {
        uint64_t value = pointer_value(t, &w->pointers[k]);
        memcpy(packed + w->pointers[k].at, &value, sizeof(value));
    }
}

/* A mode of computing that the function leaves set in a thread of libkmm, and not in its caller's.
 */
static void refuse_rounding(kmm__task_t *t)
{
    pthread_mutex_lock(&t->runtime->lock);
    kmm__fail(t, KMM_E_STATE,
              "the function leaves another direction of rounding, or another state of floating-"
              "point numbers, set in its thread, and its caller would not get it; set it back "
              "before the function returns");
    pthread_mutex_unlock(&t->runtime->lock);
}

void kmm__function_call(kmm__task_t *t)
{
    const kmm__work_t *w = t->work;
    _Alignas(KMM_MAX_ALIGN) unsigned char packed[w->args_bytes + 16];
    kmm__arguments_write(t, packed);
    const bool stores = kmm__stored_wants(t);
    if (stores && !kmm__stored_check(t))
        return;
    const kmm__rounding_t own = kmm__rounding_change(w->rounding);
    kmm__flags_change(w->flags);
    w->function(&t->part.range, packed);
    const kmm__rounding_t left = kmm__rounding_change(own);
    const int raised = kmm__flags_now() & ~w->flags;
    if (raised && !w->is_undivided)
        kmm__flags_note(t->part.range.thread, raised);
    if (!kmm__rounding_is(left, w->rounding))
        refuse_rounding(t);
    if (stores)
        kmm__stored_name(t);
}

/* ---- Joining ---- */

typedef struct blocks {
    uint32_t offset[3], count[3];
} blocks_t;

static blocks_t blocks_of(const kmm__task_t *t)
{
    blocks_t b;
    memcpy(b.offset, t->part.offset, sizeof(b.offset));
    memcpy(b.count, t->part.count, sizeof(b.count));
    return b;
}

/* Extends a by b if both together are a box. False: they are not. */
static bool append(blocks_t *a, const blocks_t *b)
{
    int along = -1;
    for (int d = 0; d < 3; d++) {
        if (a->offset[d] == b->offset[d] && a->count[d] == b->count[d])
            continue;
        if (along >= 0 || a->offset[d] + a->count[d] != b->offset[d])
            return false;
        along = d;
    }
    if (along < 0)
        return false;
    a->count[along] += b->count[along];
    return true;
}

/* True if t differs from other chunks of its launch in its blocks only, so that one kernel launch
 * can run both. Partials and checks give each chunk memory of its own. */
static bool can_join(const kmm__task_t *t)
{
    const kmm__work_t *w = t->work;
    return w->kernel && !w->has_statements && w->partials_count == 0 && !kmm__check_wants(t) &&
           !t->error;
}

uint32_t kmm__chunks_join(kmm__task_t *const *tasks, uint32_t count)
{
    enum { DEPTH = 4 };   /* one more than there are dimensions */
    blocks_t open[DEPTH]; /* the blocks so far, as a stack of boxes: each continues the one below */
    uint32_t depth = 0, joined = 1;
    if (!can_join(tasks[0]))
        return 1;
    for (uint32_t k = 0; k < count; k++) {
        if (tasks[k]->work != tasks[0]->work ||
            tasks[k]->issue.compute_stream != tasks[0]->issue.compute_stream ||
            !can_join(tasks[k]) || depth == DEPTH)
            break;
        open[depth++] = blocks_of(tasks[k]);
        while (depth > 1 && append(&open[depth - 2], &open[depth - 1]))
            depth--;
        if (depth == 1)
            joined = k + 1;
    }
    return joined;
}

/* The box of blocks of tasks that kmm__chunks_join has joined. */
static blocks_t joined_blocks(kmm__task_t *const *tasks, uint32_t count)
{
    blocks_t first = blocks_of(tasks[0]), last = blocks_of(tasks[count - 1]);
    for (int d = 0; d < 3; d++)
        first.count[d] = last.offset[d] + last.count[d] - first.offset[d];
    return first;
}

/* ---- Launching ---- */

/* For messages: the list of chunks that a launch runs. */
static const kmm__task_t *const *list_of(kmm__task_t *const *tasks)
{
    return (const kmm__task_t *const *)tasks;
}

/* Chunks that differ in nothing but their blocks, which make up `part`. */
static int launch_kernel(kmm__task_t *const *tasks, uint32_t count, const blocks_t *part,
                         kmm__stream_t *stream)
{
    const kmm__task_t *t = tasks[0];
    const kmm__work_t *w = t->work;
    _Alignas(16) unsigned char packed[w->args_bytes + 16];
    void *args[w->arg_count + 1];
    kmm__run_t run = {.kernel = w->kernel,
                      .geometry = w->geometry,
                      .args = args,
                      .tasks = list_of(tasks),
                      .task_count = count};
    kmm__arguments_write(t, packed);
    for (uint32_t k = 0; k < w->arg_count; k++)
        args[k] = packed + w->arg_offset[k];
    memcpy(run.offset, part->offset, sizeof(run.offset));
    memcpy(run.count, part->count, sizeof(run.count));
    bool is_whole = memcmp(part->count, w->geometry.grid, sizeof(part->count)) == 0;
    uint64_t table = kmm__exact_table(t->issue.check);
    if (!w->kernel->is_clone && w->kernel->whole && !t->issue.check)
        run.kernel = w->kernel->whole;
    else if (w->kernel->is_clone && w->kernel->whole && is_whole && !table) {
        run.kernel = w->kernel->whole;
        run.args = args + 1;
    } else if (w->kernel->is_clone) {
        const uint32_t *grid = w->geometry.grid;
        kmm_checked_blocks_t blocks = {
            part->offset[0], part->offset[1], part->offset[2], grid[0], grid[1], grid[2], table};
        memcpy(args[0], &blocks,
               kmm__exact_takes_table(w->kernel) ? sizeof(blocks) : sizeof(kmm_blocks_t));
    }
    return t->device->backend->launch(stream, &run);
}

/* Calls a function on a stream. */
static void call_in_stream(const kmm_chunk_t *chunk, void *args)
{
    kmm__task_t *t;
    (void)chunk;
    memcpy(&t, args, sizeof(t));
    kmm__function_call(t);
}

static int launch_chunk(kmm__task_t *t, kmm__stream_t *stream)
{
    const kmm__work_t *w = t->work;
    blocks_t part = blocks_of(t);
    if (w->has_statements)
        return 0;
    if (w->kernel)
        return launch_kernel(&t, 1, &part, stream);
    kmm__run_t run = {.function = call_in_stream,
                      .args_block = &t,
                      .args_bytes = sizeof(t),
                      .tasks = list_of(&t),
                      .task_count = 1};
    return t->device->backend->launch(stream, &run);
}

static int chunks_launch(kmm__task_t *const *tasks, uint32_t count, kmm__stream_t *stream)
{
    if (count > 1) {
        blocks_t part = joined_blocks(tasks, count);
        return launch_kernel(tasks, count, &part, stream);
    }
    return kmm__check_wants(tasks[0]) ? kmm__check_launch(tasks[0], stream, launch_chunk)
                                      : launch_chunk(tasks[0], stream);
}

/* The end of a launch is when the stream reaches it; so is the begin, if the stream waits. */
static __attribute__((cold, noinline)) int launch_traced(kmm__task_t *const *tasks, uint32_t count,
                                                         kmm__stream_t *stream)
{
    kmm__device_t *d = tasks[0]->device;
    kmm__event_t e = {.kind = KMM__EVENT_RUN_ENQUEUED,
                      .device = d->number,
                      .task = kmm__task_number(tasks[0]),
                      .a = tasks[0]->issue.compute_stream};
    bool waits = tasks[0]->order.wait_count > 0;
    for (uint32_t k = 1; k < count; k++) {
        kmm__trace_task(KMM__EVENT_JOINED, tasks[k], e.task);
        waits |= tasks[k]->order.wait_count > 0;
    }
    kmm__trace_push(&e);
    e.kind = KMM__EVENT_RUN_BEGIN;
    if (waits)
        kmm__stream_mark(d, stream, &e);
    int error = chunks_launch(tasks, count, stream);
    e.kind = KMM__EVENT_RUN_END;
    kmm__stream_mark(d, stream, &e);
    return error;
}

static int launch_seen(kmm__task_t *const *tasks, uint32_t count, kmm__stream_t *stream)
{
    return kmm__tracing() && !tasks[0]->work->has_statements ? launch_traced(tasks, count, stream)
                                                             : chunks_launch(tasks, count, stream);
}

int kmm__chunks_launch(kmm__task_t *const *tasks, uint32_t count, kmm__stream_t *stream)
{
    kmm__count(&tasks[0]->device->counters.launches, 1);
    if (!kmm__ranging())
        return launch_seen(tasks, count, stream);
    kmm__range_begin(tasks, count);
    int error = launch_seen(tasks, count, stream);
    kmm__range_end();
    return error;
}
