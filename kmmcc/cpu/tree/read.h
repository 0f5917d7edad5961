/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a function's body as a tree: cursors, variables, collective calls, where jumps lead, and
 * what changes variables.
 */
#ifndef KMMCC_CPU_TREE_READ_H
#define KMMCC_CPU_TREE_READ_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "cpu/tree/tree.h"

/* False: it cannot be split, for the reason that the tree then has. */
bool tree_read(body_tree_t *b, unit_t *u, CXCursor function, collective_of_t collective_of,
               const void *context);

#endif
