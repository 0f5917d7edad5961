/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The storage of each variable: what is uniform is one variable of the block, what is cheap is
 * computed again in each phase, all else has a value for each thread. It is assumed that all
 * variables are uniform, and this is taken back until nothing contradicts: a divergent initializer
 * or assigned value, or an assignment that only some threads reach.
 */
#ifndef KMMCC_CPU_TREE_STORAGE_H
#define KMMCC_CPU_TREE_STORAGE_H

#include "cpu/tree/tree.h"

/* Sets the variables' storage, and which statements are the block's. */
void storage_find(body_tree_t *b);

#endif
