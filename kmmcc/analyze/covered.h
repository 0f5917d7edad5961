/* SPDX-License-Identifier: Apache-2.0 */
/* Which items of a launch speak of which of its arguments. */
#ifndef KMMCC_ANALYZE_COVERED_H
#define KMMCC_ANALYZE_COVERED_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* True if an item says what the launch does with the pointer argument, whose text is `text`. */
bool covered(const unit_t *u, const directive_t *d, CXCursor argument, int number,
             const char *text);

#endif
