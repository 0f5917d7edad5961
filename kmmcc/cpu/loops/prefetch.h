/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefetches into the processor's cache. A block asks for the elements that the next block reads
 * first. A round of a strided loop asks for the elements of the next round.
 */
#ifndef KMMCC_CPU_LOOPS_PREFETCH_H
#define KMMCC_CPU_LOOPS_PREFETCH_H

#include "base/text.h"
#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Writes prefetches for each `x[i]` in the statement whose index differs in the next block only by
 * blockIdx. */
void prefetch_next_block(emitter_t *e, const node_t *n);
/* Appends to `out` prefetches of the arrays that the loop's body `n` indexes by the loop's variable
 * `v`, `stride` elements ahead. */
void prefetch_next_round(emitter_t *e, const node_t *n, const variable_t *v, const char *stride,
                         text_t *out);

#endif
