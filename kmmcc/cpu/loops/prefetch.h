/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is asked for before it is needed: what the next block begins with, while the one
 * before still runs, and what a loop with a stride uses in its next round.
 */
#ifndef KMMCC_CPU_LOOPS_PREFETCH_H
#define KMMCC_CPU_LOOPS_PREFETCH_H

#include "base/text.h"
#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* `x[i]` in the statement, with an index that only the block's own makes another in the next one.
 */
void prefetch_next_block(emitter_t *e, const node_t *n);
/* The arrays that the loop indexes by its variable `v`. */
void prefetch_next_round(emitter_t *e, const node_t *n, const variable_t *v, const char *stride,
                         text_t *out);

#endif
