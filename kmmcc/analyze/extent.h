/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory an expression leads to, if its base is a variable, whose type says it. */
#ifndef KMMCC_ANALYZE_EXTENT_H
#define KMMCC_ANALYZE_EXTENT_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "pragma/directive.h"

/* Adds sections to an item that has none and whose base is the expression: [0:N] for an array of N
 * elements, [0:1] for &v. Other items stay as they are. */
void extent_add(item_t *item, CXCursor base);
/* True for &v of a variable. */
bool extent_is_object(CXCursor argument);
/* True for a compound literal, (int[]){1, 2} or &(struct s){1}. Each mention is another object. */
bool extent_is_literal(CXCursor argument);

#endif
