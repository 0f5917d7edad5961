/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes the variables of a body: each use of a variable is followed up the tree to what an
 * operator or call does with it.
 */
#ifndef KMMCC_CPU_TREE_CHANGES_H
#define KMMCC_CPU_TREE_CHANGES_H

#include <stdbool.h>

#include "cpu/tree/tree.h"

/* Sets the variables' scopes, initializers and changes, and whether something else may change them.
 */
bool changes_find(body_tree_t *b, node_t *n);

#endif
