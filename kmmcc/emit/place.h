/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions that may depend on where they stand. */
#ifndef KMMCC_EMIT_PLACE_H
#define KMMCC_EMIT_PLACE_H

#include <clang-c/Index.h>
#include <stddef.h>

#include "clang/unit.h"

/* Returns the text of the expression at [begin, end) of the source. If its value may depend on its
 * line, as that of __LINE__ and of std::source_location::current() does, then with a #line
 * directive before it and with all its lines. */
const char *place_kept(const unit_t *u, CXCursor expression, size_t begin, size_t end);

#endif
