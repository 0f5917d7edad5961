/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that chunks do not write the same elements. */
#ifndef KMMCC_ANALYZE_CHECK_OVERLAP_H
#define KMMCC_ANALYZE_CHECK_OVERLAP_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* The number of chunks of a launch along an axis: one, or several. CUT_MAYBE: that is known only at
 * run time. */
typedef enum cut { CUT_NEVER, CUT_MAYBE, CUT_ALWAYS } cut_t;
cut_t check_cut_along(const unit_t *u, const directive_t *d, int number);
void check_overlap(unit_t *u, directive_t *d, const item_t *item);

#endif
