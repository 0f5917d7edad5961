/* SPDX-License-Identifier: Apache-2.0 */
/* Values and choices in plain functions that are others in chunks than in one call. */
#ifndef KMMCC_ANALYZE_CARRIED_VALUE_H
#define KMMCC_ANALYZE_CARRIED_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/compare_report.h"

/* True if the node is computed from the parameter. */
bool carried_depends_on(const ir_function_t *f, int node, int param);
/* True if the loop runs along an axis that may be split. */
bool carried_is_along(const comparison_t *c, int loop);
/* True for one of these loops, which are bits. */
bool carried_any_along(const comparison_t *c, uint64_t loops);
/* True if a parameter among these, which are bits, is told a length of a split axis, or a begin or
 * end of one. */
bool carried_has_bound(const comparison_t *c, uint64_t params, bool is_length);
/* True if the loop's test does not depend on data. */
bool carried_is_known(const comparison_t *c, int loop);
/* True if some chunk may begin at an index that is no multiple of `period` behind the begin of the
 * range: if libkmm chooses the chunks, or `chunk` is no multiple of `period`. */
bool carried_breaks(const comparison_t *c, int64_t period);
/* True if the value that is stored is computed from the chunk's length. */
bool carried_has_length(const comparison_t *c, const ir_access_t *a);
/* Returns the first store of a value that begins anew in each chunk, or is computed from the
 * chunk's length; NULL: there is none. */
const ir_access_t *carried_value(comparison_t *c);
/* Returns the first store whose value or condition comes from a loop over the whole chunk, such as
 * a sum of all elements; NULL: there is none. */
const ir_access_t *carried_whole(comparison_t *c);
/* Returns the first store under a comparison of the chunk's length with a constant; NULL: there is
 * none. */
const ir_access_t *carried_chosen(comparison_t *c);

#endif
