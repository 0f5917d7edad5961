/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that describe a launch to libkmm. */
#ifndef KMMCC_EMIT_DESCRIBE_H
#define KMMCC_EMIT_DESCRIBE_H

#include <stdbool.h>

#include "base/text.h"
#include "clang/unit.h"
#include "pragma/directive.h"
#include "pragma/expression.h"
#include "pragma/form.h"

/* Writes all calls that describe the launch, from kmm_launch_begin to its last item. */
void describe_launch(const unit_t *u, const directive_t *d, const char *indent, text_t *out);
/* Returns the base as C text that may be an operand of any operator. */
const char *describe_base(const unit_t *u, const expr_t *base);
/* Computes how far the first element of the item moves along an axis, in arrays of its last `inner`
 * dimensions. False if that is no whole number of them. */
bool describe_step(const unit_t *u, const item_t *item, int axis, int inner, form_t *step);

#endif
