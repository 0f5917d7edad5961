/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which values are uniform: the same for all threads of a block. Every variable that could be is
 * assumed to be uniform, and this is taken back until nothing contradicts. A contradiction is an
 * initializer or an assigned value that diverges, or an assignment that only some threads reach.
 */
#ifndef KMMCC_CPU_TREE_UNIFORMITY_H
#define KMMCC_CPU_TREE_UNIFORMITY_H

#include "cpu/tree/tree.h"

typedef enum uniformity {
    UNIFORM,
    THREAD_DEPENDENT,
    DIVERGENT
} uniformity_t; /* THREAD_DEPENDENT: only with threadIdx and what it gives */

uniformity_t uniformity_worse(uniformity_t a, uniformity_t b);
/* Of an expression, as far as the storage of variables is known. */
uniformity_t uniformity_of(const body_tree_t *b, const node_t *n);

#endif
