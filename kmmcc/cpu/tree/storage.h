/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the storage of each variable. A uniform variable is one variable of the block; one that
 * is cheap to compute is recomputed in each phase; any other has one value for each thread. All
 * variables are assumed to be uniform first. The assumption is taken back where it is contradicted,
 * until nothing contradicts. A contradiction is a divergent initializer or assigned value, or an
 * assignment that only some threads reach.
 */
#ifndef KMMCC_CPU_TREE_STORAGE_H
#define KMMCC_CPU_TREE_STORAGE_H

#include "cpu/tree/tree.h"

/* Sets the variables' storage, and is_divided and is_left_early of the nodes. */
void storage_find(body_tree_t *b);

#endif
