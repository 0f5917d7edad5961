/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads to which a condition limits what follows: `i < n`, with i consecutive along an axis,
 * holds for the first n - i threads of it. Other threads are not run at all.
 */
#ifndef KMMCC_CPU_LOOPS_BOUNDS_H
#define KMMCC_CPU_LOOPS_BOUNDS_H

#include <stdbool.h>

#include "base/text.h"
#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

typedef struct bounds {
    text_t limits;    /* statements that limit kmm_p */
    text_t exact;     /* whether these leave exactly the threads for which the condition holds */
    bool is_complete; /* the condition says no more than that */
} bounds_t;

/* The bounds in a condition, or in its contrary; false: it has none. */
bool bounds_read(emitter_t *e, const node_t *condition, bool contrary, bounds_t *b);

#endif
