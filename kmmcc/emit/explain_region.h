/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of an item that a chunk accesses, as formulas of the program's variables and of the
 * chunk's bounds: x0 is the first index of axis x in the chunk, and x1 the one behind the last. */
#ifndef KMMCC_EMIT_EXPLAIN_REGION_H
#define KMMCC_EMIT_EXPLAIN_REGION_H

#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* A launch or a task that is explained. */
typedef struct explanation {
    const unit_t *u;
    const directive_t *d;
} explanation_t;

/* Returns the text without casts to long long, which do not matter to a reader. */
const char *explain_plain(const char *text);
const char *explain_words(const explanation_t *x, size_t begin, size_t end);
/* Returns the size of the axis's chunks; NULL: none is given. */
const expr_t *explain_chunk(const directive_t *d, int axis);
/* Stores the first and the last index of the section over a chunk. False: there is no formula. */
bool explain_bounds(const explanation_t *x, const section_t *section, const char **first,
                    const char **last);
/* Returns the elements: `A[x0 .. x1 - 1]`, or a set. */
const char *explain_elements(const explanation_t *x, const item_t *item);
/* Returns the bytes of a full chunk; NULL: they are known when it runs. */
const char *explain_bytes(const explanation_t *x, const item_t *item);
/* Returns the size of an element in bytes; 0 if it is not known. */
long long explain_element_bytes(const item_t *item);
/* True if the form is the same for each index of the axes. */
bool explain_is_constant(const explanation_t *x, const affine_t *a);

#endif
