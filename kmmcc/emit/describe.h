/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that describe a launch to libkmm. */
#ifndef KMMCC_EMIT_DESCRIBE_H
#define KMMCC_EMIT_DESCRIBE_H

#include <stdbool.h>

#include "base/text.h"
#include "clang/unit.h"
#include "kmm/launch.h"
#include "pragma/directive.h"
#include "pragma/expression.h"
#include "pragma/form.h"

/* The values that a description is made of, each as a call that makes a kmm_value_t of it. */
typedef struct values {
    const char *call[KMM_MAX_VALUES];
    int count;
    bool is_full; /* there are more */
} values_t;

/* Writes all calls that describe the launch, from `kmm__launch = kmm_launch_begin` to its last
 * item. The first line is not indented. Adds the values in which launches at that place differ. */
void describe_launch(const unit_t *u, const directive_t *d, const char *indent, values_t *values,
                     text_t *out);
/* Returns the base as C text that may be an operand of any operator. */
const char *describe_base(const unit_t *u, const expr_t *base);
/* Computes how far the first element of the item moves along an axis, in arrays of its last `inner`
 * dimensions. False if that is no whole number of them. */
bool describe_step(const unit_t *u, const item_t *item, int axis, int inner, form_t *step);

#endif
