/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of loops and branches, and where statements end: clang does not say where parentheses
 * and semicolons are, so they are found in the source.
 */
#ifndef KMMCC_CPU_TREE_PARTS_H
#define KMMCC_CPU_TREE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/token.h"
#include "cpu/tree/tree.h"

/* A loop's or branch's parts by their places: NULL where there is none. */
typedef struct parts {
    node_t *initial, *condition, *increment, *first, *second;
    size_t open, close, semicolon[2];
} parts_t;

/* The first token from a place on. */
token_t parts_token(const body_tree_t *b, size_t at, size_t end);
/* The place behind the statement's semicolon. */
size_t parts_end(const body_tree_t *b, const node_t *n);
/* False: they are not found, and the body cannot be split. */
bool parts_of(body_tree_t *b, const node_t *n, parts_t *p);

#endif
