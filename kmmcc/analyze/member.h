/* SPDX-License-Identifier: Apache-2.0 */
/* Members of structs that a launch passes, as names in its clauses. */
#ifndef KMMCC_ANALYZE_MEMBER_H
#define KMMCC_ANALYZE_MEMBER_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Returns the first member `a.m` of an argument `a` in the text that the launch cannot name: the
 * argument's class has none of that name in some instance of the launch, or hides it. NULL: there
 * is none. */
const char *member_unnamed(const unit_t *u, const directive_t *d, const char *text);

#endif
