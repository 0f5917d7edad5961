/* SPDX-License-Identifier: Apache-2.0 */
/* Foresight: when each frame is used next. For queued tasks that is known. Beyond these, launches
 * are expected to come again as they came before. Times are ranks of tasks, which are numbers in
 * the order of submission. All functions are called with the runtime's lock. */
#ifndef KMM__MEMORY_RESIDENCY_FORESIGHT_H
#define KMM__MEMORY_RESIDENCY_FORESIGHT_H

#include "memory/residency/frame.h"

/* Ranks t, which has its device, accesses, predecessors and error if it has failed, and adds it to
 * the queues of the frames that it will touch. */
void kmm__uses_expect(kmm__task_t *t);
void kmm__uses_met(kmm__task_t *t);    /* records that t has been removed from all of them */
void kmm__uses_cancel(kmm__task_t *t); /* removes it */
void kmm__uses_drop(kmm__uses_t *u, const kmm__task_t *t); /* removes it from one queue */
void kmm__uses_free(kmm__frame_t *f);

/* Records that t uses f now. */
static inline void kmm__uses_meet(kmm__frame_t *f, const kmm__task_t *t)
{
    kmm__uses_t *u = &f->uses;
    if (u->count)
        kmm__uses_drop(u, t);
    for (uint32_t k = KMM__PAST_USES - 1; k > 0; k--)
        u->past[k] = u->past[k - 1];
    u->past[0] = t->sequence;
    u->launch = t->work->pattern;
}

/* True if the next queued tasks that use f store all of it anew, and none of them reads what it
 * holds now. *last receives the greatest number of these tasks. */
bool kmm__uses_overwrite(const kmm__frame_t *f, uint64_t *last);
/* True if a queued task that was submitted before task `last` uses f, or `last` does. */
bool kmm__uses_before(const kmm__frame_t *f, uint64_t last);
/* True if no queued task uses f. */
bool kmm__uses_none(const kmm__frame_t *f);

/* Returns when f is used next, as far as is known; a greater number is later. `now` is the number
 * of the task that asks. */
uint64_t kmm__uses_next(const kmm_runtime_t *rt, const kmm__frame_t *f, uint64_t now);
/* True if that number is known or expected, and not a guess about a frame of which nothing is
 * known. */
bool kmm__uses_is_known(uint64_t next);

/* Records that a launch is being submitted. Returns its index in rt->memory->patterns. */
uint32_t kmm__pattern_note(kmm_runtime_t *rt, uint64_t identity);

#endif
