/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the axes of a directive. */
#ifndef KMMCC_ANALYZE_CHECK_AXIS_H
#define KMMCC_ANALYZE_CHECK_AXIS_H

#include "clang/unit.h"
#include "pragma/directive.h"

void check_axes(unit_t *u, directive_t *d);

#endif
