/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds: the threads for which a condition can be true. `i < n` is true for the first n - i0
 * threads along the axis of i, whose value in the block's first thread is i0. The loop over the
 * threads leaves out all others.
 */
#ifndef KMMCC_CPU_LOOPS_BOUNDS_H
#define KMMCC_CPU_LOOPS_BOUNDS_H

#include <stdbool.h>

#include "base/text.h"
#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

typedef struct bounds {
    text_t limits;    /* statements that limit kmm__p, the threads that run */
    text_t exact;     /* C++ terms, each behind `&&`: true if the limits are the condition */
    bool is_complete; /* each term of the condition has become a limit */
} bounds_t;

/* Reads the bounds of a condition, or of its negation if `contrary`. False if it has none. */
bool bounds_read(emitter_t *e, const node_t *condition, bool contrary, bounds_t *b);

#endif
