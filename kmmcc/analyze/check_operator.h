/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of reductions against the atomic operations of kernels. */
#ifndef KMMCC_ANALYZE_CHECK_OPERATOR_H
#define KMMCC_ANALYZE_CHECK_OPERATOR_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Reports each `reduce` whose target the kernel visibly combines by another operator. */
void check_operators(unit_t *u, const directive_t *d);

#endif
