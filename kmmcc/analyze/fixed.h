/* SPDX-License-Identifier: Apache-2.0 */
/* Local variables that always have the constant of their definition. */
#ifndef KMMCC_ANALYZE_FIXED_H
#define KMMCC_ANALYZE_FIXED_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stdint.h>

/* What is known of the variables of one function. */
typedef struct fixed fixed_t;
fixed_t *fixed_new(CXCursor function);
/* Stores the variable's value. False: it is no local integer that a constant initializes, or the
 * function does more with it than load it. */
bool fixed_value(fixed_t *f, CXCursor variable, int64_t *value);

/* True if all that the function does with the variable, or with members of it, is to load or copy
 * them. */
bool fixed_is_loaded(CXCursor function, CXCursor variable);

#endif
