/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of loops and branches, and the ends of statements. libclang does not tell the positions
 * of parentheses and semicolons, so they are found in the source.
 */
#ifndef KMMCC_CPU_TREE_PARTS_H
#define KMMCC_CPU_TREE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/token.h"
#include "cpu/tree/tree.h"

/* The parts of a loop or branch; NULL for a part that it does not have. `first` is the body, or
 * what a true condition runs; `second` is behind `else`. `open` is behind `(`, `close` at `)`. */
typedef struct parts {
    node_t *initial, *condition, *increment, *first, *second;
    size_t open, close, semicolon[2];
} parts_t;

/* Returns the first token in [at, end). */
token_t parts_token(const body_tree_t *b, size_t at, size_t end);
/* Returns the offset behind the statement and its semicolon. */
size_t parts_end(const body_tree_t *b, const node_t *n);
/* Finds the parts of a loop or branch. If they are not found, returns false, and the body cannot be
 * split. */
bool parts_of(body_tree_t *b, const node_t *n, parts_t *p);

#endif
