/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foresight: when a frame is used next. What is queued is known; beyond that, launches are taken to
 * come again as they came before. Numbers are those of tasks: the order of submission. All
 * functions are called with the runtime's lock.
 */
#ifndef KMM__MEMORY_RESIDENCY_FORESIGHT_H
#define KMM__MEMORY_RESIDENCY_FORESIGHT_H

#include "memory/residency/frame.h"

void kmm__uses_expect(kmm__task_t *t); /* t, which has its device and accesses, will touch frames */
void kmm__uses_cancel(kmm__task_t *t); /* or will not after all */
void kmm__uses_drop(kmm__uses_t *u, uint64_t sequence); /* from what is expected */
void kmm__uses_free(kmm__frame_t *f);

/* t touches f now. */
static inline void kmm__uses_meet(kmm__frame_t *f, const kmm__task_t *t)
{
    kmm__uses_t *u = &f->uses;
    if (u->count)
        kmm__uses_drop(u, t->sequence);
    for (uint32_t k = KMM__PAST_USES - 1; k > 0; k--)
        u->past[k] = u->past[k - 1];
    u->past[0] = t->sequence;
    u->launch = t->work->pattern;
}

/* Whether the next queued task that touches f has that number; whether none is queued. */
bool kmm__uses_next_is(const kmm__frame_t *f, uint64_t sequence);
bool kmm__uses_none(const kmm__frame_t *f);

/* When f is used next, as far as can be told: the greater, the later. `now` is the number of the
 * task that asks. */
uint64_t kmm__uses_next(const kmm_runtime_t *rt, const kmm__frame_t *f, uint64_t now);
/* Whether that was more than a guess about a frame of which nothing is known. */
bool kmm__uses_is_known(uint64_t next);

/* Notes that a launch is being submitted. Its index in rt->memory->patterns. */
uint32_t kmm__pattern_note(kmm_runtime_t *rt, uint64_t identity);

#endif
