/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch runs. */
#ifndef KMMCC_CLANG_CALLEE_H
#define KMMCC_CLANG_CALLEE_H

#include <clang-c/Index.h>

#include "clang/unit.h"
#include "pragma/directive.h"

void callee_error(const unit_t *u, const directive_t *d, CXCursor c, const char *message);
void callee_bind(unit_t *u, directive_t *d);

#endif
