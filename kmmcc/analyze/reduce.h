/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the elements of a reduction can be reduced. */
#ifndef KMMCC_ANALYZE_REDUCE_H
#define KMMCC_ANALYZE_REDUCE_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Sets item->reduced from the type of the item's base. Reports types that cannot be reduced. */
void reduce_check(unit_t *u, item_t *item, CXType base);

#endif
