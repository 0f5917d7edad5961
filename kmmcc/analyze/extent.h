/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory an expression leads to, where it tells that itself: variables. */
#ifndef KMMCC_ANALYZE_EXTENT_H
#define KMMCC_ANALYZE_EXTENT_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "pragma/directive.h"

/* Gives an item without sections, whose base is the expression, those of the variable: [0:N] of an
 * array of N elements, [0:1] of &v. Nothing of others. */
void extent_add(item_t *item, CXCursor base);
/* True for &v of a variable. */
bool extent_is_object(CXCursor argument);
/* True for a compound literal, (int[]){1, 2} or &(struct s){1}. Each mention is another object. */
bool extent_is_literal(CXCursor argument);

#endif
