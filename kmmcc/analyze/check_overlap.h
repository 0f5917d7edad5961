/* SPDX-License-Identifier: Apache-2.0 */
/* Whether chunks that are written overlap. */
#ifndef KMMCC_ANALYZE_CHECK_OVERLAP_H
#define KMMCC_ANALYZE_CHECK_OVERLAP_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Whether a launch has several chunks along an axis: what is not known when compiling is known when
 * it runs. */
typedef enum cut { CUT_NEVER, CUT_MAYBE, CUT_ALWAYS } cut_t;
cut_t check_cut_along(const unit_t *u, const directive_t *d, int number);
void check_overlap(unit_t *u, directive_t *d, const item_t *item);

#endif
