/* SPDX-License-Identifier: Apache-2.0 */
/* The pointers of a launch whose accesses are compared with its items. */
#ifndef KMMCC_ANALYZE_COMPARE_TARGET_H
#define KMMCC_ANALYZE_COMPARE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/compare_report.h"

/* Returns the name of the pointer's array; NULL: not known. *shift receives the bytes from the
 * array's variable to the pointer. */
const char *compare_key(comparison_t *c, const accessed_t *t, int64_t *shift);
/* True if the item is of the pointer's array. *base receives the bytes from the array's variable to
 * the item's base. */
bool compare_is_of(comparison_t *c, const accessed_t *t, const item_t *item, int64_t *base);
/* True if a reduction names the pointer's array. */
bool compare_is_reduced(comparison_t *c, const accessed_t *t);
/* Adds a pointer, unless it is there. */
void compare_add(comparison_t *c, int param, int member);
/* Returns the pointer of an access; NULL: nothing is said of it. */
accessed_t *compare_target_of(comparison_t *c, const ir_access_t *a);
/* The same, also of pointers of which nothing is said. */
const accessed_t *compare_pointer_of(const comparison_t *c, const ir_access_t *a);

/* True if an item's base comes from no argument. It may then be another name for an argument's
 * array, so that it names what the kernel accesses. */
bool compare_has_other_names(comparison_t *c);

/* True if the launch passes a variable that is a constant, so that its value matters. */
bool compare_passes_fixed(const directive_t *d, fixed_t *fixed);

#endif
