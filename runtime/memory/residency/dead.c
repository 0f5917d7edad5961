/* SPDX-License-Identifier: Apache-2.0 */
/* Dead frames: frames whose contents no task will read, so that eviction need not copy them. The
 * users of the frame's elements tell. Either all are done and the program has freed the array, or
 * queued tasks of one launch overwrite all of the frame and no task reads it before. */
#include "memory/residency/dead.h"

#include "memory/array.h"
#include "memory/residency/foresight.h"
#include "memory/residency/frame.h"
#include "task/users.h"

typedef struct dead {
    const kmm__device_t *device;
    uint64_t work; /* work id + 1 of the tasks that will overwrite the frame; 0: none seen yet */
    bool all_done; /* no unfinished task touches the frame */
    /* tasks of one launch overwrite all of it, and no task of that launch reads it */
    bool overwritten;
    bool all_ready; /* all tasks that they follow are on streams */
} dead_t;

static int dead_part(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    dead_t *d = arg;
    const kmm__users_t *u = value;
    const kmm__task_t *w = u->writer;
    d->all_done &= !w || w->state == KMM__TASK_DONE;
    for (uint32_t k = 0; k < u->reader_count; k++) {
        d->all_done &= kmm__users_readers(u)[k]->state == KMM__TASK_DONE;
        d->overwritten &= w && kmm__users_readers(u)[k]->work_id != w->work_id;
    }
    d->overwritten &= w && u->fresh && w->state < KMM__TASK_ISSUED && !w->error &&
                      (d->work == 0 || d->work == w->work_id + 1);
    if (!d->overwritten)
        return 0;
    d->work = w->work_id + 1;
    d->all_ready &= w->state == KMM__TASK_READY;
    return 0;
}

static bool touches(const kmm__access_t *a, int64_t begin, int64_t end)
{
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = kmm__layout_split(a->layout, begin, end, boxes);
    for (int b = 0; b < n; b++) {
        kmm__box_t common = kmm__box_intersect(&boxes[b], &a->box);
        if (!kmm__box_empty(&common))
            return true;
    }
    return false;
}

/* Takes reads of [begin, end) into account that are in no map yet. */
static void dead_reads(dead_t *d, const kmm__array_t *a, int64_t begin, int64_t end)
{
    for (uint32_t k = 0; k < a->object.reads.count && (d->all_done || d->overwritten); k++) {
        const kmm__task_t *t = a->object.reads.list[k].task;
        if (t->state == KMM__TASK_DONE ||
            !touches(&t->accesses[a->object.reads.list[k].access], begin, end))
            continue;
        d->all_done = false;
        d->overwritten &= d->work != t->work_id + 1;
    }
}

/* True if a task on device `other` may read what the frame holds before task `last` overwrites it.
 * That device notes its uses of the same part of the array, and the acquisition under way has
 * removed its task's. Tasks that have planned their copies from f pin it. */
static bool is_read_on(const kmm__frame_t *f, const kmm__device_t *other, uint64_t last)
{
    const kmm__residence_t *r = &f->array->residence[other->index];
    if (f->array->object.unfinished[other->space] == 0)
        return false;
    if (other->memory->unforeseen || r->is_packed)
        return true;
    return r->frames && (r->frames[f->index].stamp == other->memory->stamp ||
                         kmm__uses_before(&r->frames[f->index], last));
}

/* The same for all other spaces. */
static bool is_read_elsewhere(const kmm__frame_t *f, uint64_t last)
{
    const kmm__array_t *a = f->array;
    const kmm_runtime_t *rt = a->runtime;
    bool is_read = a->object.unfinished[KMM__HOST] && a->object.oldest_on_host <= last;
    for (uint32_t k = 0; k < rt->device_count && !is_read; k++)
        if (rt->device[k] != f->device && rt->device[k]->space != KMM__HOST)
            is_read = is_read_on(f, rt->device[k], last);
    return is_read;
}

bool kmm__frame_is_overwritten(const kmm__frame_t *f)
{
    uint64_t last;
    return f->device->memory->unforeseen == 0 && kmm__uses_overwrite(f, &last) &&
           !is_read_elsewhere(f, last);
}

bool kmm__frame_is_dead(const kmm__frame_t *f)
{
    if (kmm__frame_is_overwritten(f))
        return true;
    kmm__array_t *a = f->array;
    dead_t d = {f->device, 0, true, true, true};
    kmm__box_t boxes[2 * KMM__DIMS];
    int64_t begin = (int64_t)(f->index * a->frame_bytes), end = begin + (int64_t)a->frame_bytes;
    end = end < (int64_t)a->bytes ? end : (int64_t)a->bytes;
    int n = kmm__layout_split(&a->object.users.layout, begin, end, boxes);
    for (int b = 0; b < n; b++)
        kmm__map_visit(a->object.users.map, &boxes[b], dead_part, &d);
    dead_reads(&d, a, begin, end);
    if (d.all_done)
        return a->is_freed;
    return d.overwritten && d.all_ready;
}
