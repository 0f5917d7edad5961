/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The axis of the block along which an expression is consecutive: threadIdx.x or threadIdx.y, plus
 * what is uniform. Compilers do not see that CUDA's unsigned sums do not wrap within a block, and
 * would gather what lies side by side; so such a variable is written as its value for the block's
 * first thread plus a signed number.
 */
#ifndef KMMCC_CPU_LOOPS_AXIS_H
#define KMMCC_CPU_LOOPS_AXIS_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* An integer of 32 or 64 bits. */
bool axis_is_index_type(CXType type);
/* "x": the expression is threadIdx.x plus what is uniform; "y" likewise; NULL: neither. */
const char *axis_of(const emitter_t *e, const node_t *n);
/* The axis of a variable that is declared again; NULL: none is known. */
const char *axis_known(const emitter_t *e, const variable_t *v);
bool axis_is_unsigned(const variable_t *v);
/* Whether it may wrap within the block: where it is seen not to, kmm_small says so. */
bool axis_may_wrap(const emitter_t *e, const variable_t *v);

#endif
