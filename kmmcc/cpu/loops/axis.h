/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The axis of an expression: the dimension of the block, x or y, along which its values are
 * consecutive. The expression is threadIdx.x or threadIdx.y plus a uniform value. CUDA's index
 * arithmetic is unsigned. Compilers do not see that it does not wrap within a block, and would
 * gather elements that are adjacent. A variable with an axis is therefore written as its value for
 * the block's first thread plus a signed number.
 */
#ifndef KMMCC_CPU_LOOPS_AXIS_H
#define KMMCC_CPU_LOOPS_AXIS_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* True for integers of 32 or 64 bits. */
bool axis_is_index_type(CXType type);
/* Returns "x" or "y" if the expression is threadIdx.x or threadIdx.y plus a uniform value;
 * otherwise NULL. */
const char *axis_of(const emitter_t *e, const node_t *n);
/* Returns the axis of a recomputed variable; NULL if kmmcc knows none. */
const char *axis_known(const emitter_t *e, const variable_t *v);
/* True if the variable is an unsigned integer of 32 bits. */
bool axis_is_unsigned(const variable_t *v);
/* True if the variable may wrap within the block: it is unsigned, or its axis is checked at run
 * time. The rewritten code sets kmm__small if it does not wrap. */
bool axis_may_wrap(const emitter_t *e, const variable_t *v);

#endif
