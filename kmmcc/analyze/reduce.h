/* SPDX-License-Identifier: Apache-2.0 */
/* What can be reduced. */
#ifndef KMMCC_ANALYZE_REDUCE_H
#define KMMCC_ANALYZE_REDUCE_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Fills item->reduced from the type of its base; says what cannot be reduced. */
void reduce_check(unit_t *u, item_t *item, CXType base);

#endif
