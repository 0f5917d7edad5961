/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out if values are uniform: the same for all threads of a block. The uniformity of an
 * expression follows from the storage of the variables in it, which storage.c chooses.
 */
#ifndef KMMCC_CPU_TREE_UNIFORMITY_H
#define KMMCC_CPU_TREE_UNIFORMITY_H

#include "cpu/tree/tree.h"

typedef enum uniformity {
    UNIFORM,
    THREAD_DEPENDENT,
    DIVERGENT
} uniformity_t; /* THREAD_DEPENDENT: a function of threadIdx and uniform values alone */

/* Returns the less uniform of the two. */
uniformity_t uniformity_worse(uniformity_t a, uniformity_t b);
/* Returns the uniformity of an expression, by the storage that variables have at present. */
uniformity_t uniformity_of(const body_tree_t *b, const node_t *n);

#endif
