/* SPDX-License-Identifier: Apache-2.0 */
/* The pointer from which an expression computes an address. */
#ifndef KMMCC_EMIT_ORIGIN_H
#define KMMCC_EMIT_ORIGIN_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"
#include "pragma/expression.h"

/* Returns the text of the pointer from which the item's base, or an argument, is computed without
 * reading memory. It is x for x + 100 and &x[5], p for p->array and &p->member, and s for &s and
 * s.array. It is p->data itself where that is a pointer. NULL: it is not known. */
const char *origin_of_base(const unit_t *u, const expr_t *base);
const char *origin_of_argument(const unit_t *u, const directive_t *d, CXCursor argument);

/* Returns the text of an argument. NULL: it is not known. */
const char *origin_text(const unit_t *u, const directive_t *d, CXCursor argument);

/* Returns the text without the parentheses around it. */
const char *origin_bare(const char *text);

/* True if the argument is the item's base with those indices that no axis moves. For the item
 * A[2][i] that is A[2]; for A[7] it is &A[7] or A. */
bool origin_is_item(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument);
/* True if an argument of the launch is the base. */
bool origin_is_passed(const unit_t *u, const directive_t *d, const item_t *item);

/* True if the argument can be computed twice: it has no call and changes nothing. */
bool origin_is_pure(CXCursor argument);

#endif
