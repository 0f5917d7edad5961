/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what changes the variables of a body. Each use of a variable is followed up the tree, to
 * what an operator or call does with it.
 */
#ifndef KMMCC_CPU_TREE_CHANGES_H
#define KMMCC_CPU_TREE_CHANGES_H

#include <stdbool.h>

#include "cpu/tree/tree.h"

/* Sets scope, initializer, change, escapes and is_pointed_at of the variables in the tree `n`. */
bool changes_find(body_tree_t *b, node_t *n);

#endif
