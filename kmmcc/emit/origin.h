/* SPDX-License-Identifier: Apache-2.0 */
/* The pointer from which an expression computes an address. */
#ifndef KMMCC_EMIT_ORIGIN_H
#define KMMCC_EMIT_ORIGIN_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"
#include "pragma/expression.h"

/* The text of the pointer from which the item's base, or an argument, is computed without reading
 * memory: x of x + 100 and of &x[5], p of p->array and of &p->member, &s of s.array, but p->data
 * itself where that is a pointer. NULL: it is not known. */
const char *origin_of_base(const unit_t *u, const expr_t *base);
const char *origin_of_argument(const unit_t *u, CXCursor argument);

/* The text without the parentheses around it. */
const char *origin_bare(const char *text);

/* True if the argument is the item's base, with the indices that no axis moves: A[2] is what a call
 * passes for A[2][i], and &A[7] for A[7]. */
bool origin_is_item(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument);
/* True if an argument of the launch is the base. */
bool origin_is_passed(const unit_t *u, const directive_t *d, const item_t *item);

/* True if the argument has a value that can be computed twice: no call, no change. */
bool origin_is_pure(CXCursor argument);

#endif
