/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the items of a directive. */
#ifndef KMMCC_ANALYZE_CHECK_ITEM_H
#define KMMCC_ANALYZE_CHECK_ITEM_H

#include <clang-c/Index.h>
#include <stddef.h>

#include "clang/unit.h"
#include "pragma/directive.h"

void check_no_memory(unit_t *u, size_t begin, size_t end, const char *text, CXType type);
void check_items(unit_t *u, directive_t *d);

#endif
