/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a launch's kernel does nothing that chunks cannot do. */
#ifndef KMMCC_ANALYZE_CHECK_HAZARD_H
#define KMMCC_ANALYZE_CHECK_HAZARD_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Warns of kernels that step by the size of the grid. If the range is longer than the grid, each
 * chunk reaches elements of the whole range. */
void check_stride(unit_t *u, directive_t *d);
void check_hazards(unit_t *u, directive_t *d);

#endif
