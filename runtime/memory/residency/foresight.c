/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foresight: when each frame is used next. Eviction takes the frame that is needed farthest in the
 * future (Belady, "A study of replacement algorithms for a virtual-storage computer", 1966).
 *
 * Queued tasks are known. When a task is submitted, each frame that it will touch adds it to a
 * queue. Beyond the queue, the past is expected to repeat. If a launch came again after P tasks, it
 * is expected again every P tasks, and its frames are expected with it. That helps programs that
 * wait after each step of an iteration, and so have no queue.
 */
#include "memory/residency/foresight.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- The queue of a frame: the tasks that will touch it, by number, which is the order of
 * submission ---- */

static void queue_push(kmm__uses_t *u, uint64_t sequence)
{
    if (u->count && u->queue[(u->head + u->count - 1) & (u->capacity - 1)] == sequence)
        return;
    if (u->count == u->capacity) {
        uint32_t capacity = u->capacity ? 2 * u->capacity : 4;
        uint64_t *queue = kmm__alloc(capacity * sizeof(*queue));
        for (uint32_t k = 0; k < u->count; k++)
            queue[k] = u->queue[(u->head + k) & (u->capacity - 1)];
        free(u->queue);
        u->queue = queue;
        u->capacity = capacity;
        u->head = 0;
    }
    u->queue[(u->head + u->count++) & (u->capacity - 1)] = sequence;
}

/* Tasks are mostly issued in order, so the loop mostly finds the first one. */
static bool queue_remove(kmm__uses_t *u, uint64_t sequence)
{
    uint32_t k = 0, mask = u->capacity - 1;
    while (k < u->count && u->queue[(u->head + k) & mask] != sequence)
        k++;
    if (k == u->count)
        return false;
    for (; k > 0; k--)
        u->queue[(u->head + k) & mask] = u->queue[(u->head + k - 1) & mask];
    u->head = (u->head + 1) & mask;
    u->count--;
    return true;
}

/* ---- What tasks will touch ---- */

static void for_each_frame(kmm__task_t *t, void (*fn)(void *ctx, kmm__frame_t *f))
{
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (a->array->object.is_abstract)
            continue;
        kmm__frames_table(a->array, t->device);
        kmm__frames_of(a->array, t->device, a->layout, &a->box, fn, t);
    }
}

static void expect_frame(void *ctx, kmm__frame_t *f)
{
    queue_push(&f->uses, ((const kmm__task_t *)ctx)->sequence);
}

static void cancel_frame(void *ctx, kmm__frame_t *f)
{
    queue_remove(&f->uses, ((const kmm__task_t *)ctx)->sequence);
}

/* Does nothing if all frames have room, because nothing will be evicted then. */
void kmm__uses_expect(kmm__task_t *t)
{
    if (t->device->space == KMM__HOST || kmm__frames_fit(t->device))
        return;
    t->residency.is_expected = true;
    for_each_frame(t, expect_frame);
}

void kmm__uses_cancel(kmm__task_t *t)
{
    if (t->residency.is_expected)
        for_each_frame(t, cancel_frame);
    t->residency.is_expected = false;
}

void kmm__uses_drop(kmm__uses_t *u, uint64_t sequence)
{
    queue_remove(u, sequence);
}

void kmm__uses_free(kmm__frame_t *f)
{
    free(f->uses.queue);
    f->uses = (kmm__uses_t){0};
}

bool kmm__uses_next_is(const kmm__frame_t *f, uint64_t sequence)
{
    return f->uses.count && f->uses.queue[f->uses.head] == sequence;
}

bool kmm__uses_none(const kmm__frame_t *f)
{
    return f->uses.count == 0;
}

/* ---- Launches that come again ---- */

uint32_t kmm__pattern_note(kmm_runtime_t *rt, uint64_t identity)
{
    uint32_t k = (uint32_t)(identity % KMM__PATTERNS);
    kmm__pattern_t *p = &rt->memory->patterns[k];
    if (p->identity != identity)
        *p = (kmm__pattern_t){.identity = identity};
    else
        p->period = rt->tasks->next_sequence - p->last;
    p->last = rt->tasks->next_sequence;
    return k;
}

/* ---- The next use ---- */

/* Results from UNKNOWN on are guesses: they sort after known and expected uses, the longest unused
 * frame last. */
static const uint64_t UNKNOWN = UINT64_C(1) << 62;

uint64_t kmm__uses_next(const kmm_runtime_t *rt, const kmm__frame_t *f, uint64_t now)
{
    const kmm__uses_t *u = &f->uses;
    uint64_t period = rt->memory->patterns[u->launch].period, next = UINT64_MAX;
    if (u->count)
        return u->queue[u->head];
    for (uint32_t k = 0; k < KMM__PAST_USES && period && u->past[k]; k++)
        if (u->past[k] + period > now && u->past[k] + period < next)
            next = u->past[k] + period;
    return next < UNKNOWN ? next : UNKNOWN + (now - u->past[0]);
}

bool kmm__uses_is_known(uint64_t next)
{
    return next < UNKNOWN;
}
