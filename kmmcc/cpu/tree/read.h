/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a function's body as a tree: its nodes, variables, collective calls, targets of jumps, and
 * changes of variables.
 */
#ifndef KMMCC_CPU_TREE_READ_H
#define KMMCC_CPU_TREE_READ_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "cpu/tree/tree.h"

/* Fills in *b. False if the body cannot be split, for b->reason. */
bool tree_read(body_tree_t *b, unit_t *u, CXCursor function, collective_of_t collective_of,
               const void *context);

#endif
