/* SPDX-License-Identifier: Apache-2.0 */
/* What chunks cannot do. */
#ifndef KMMCC_ANALYZE_CHECK_HAZARD_H
#define KMMCC_ANALYZE_CHECK_HAZARD_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* A chunk of such a kernel reaches elements of the whole range, when that is longer than the grid.
 */
void check_stride(unit_t *u, directive_t *d);
void check_hazards(unit_t *u, directive_t *d);

#endif
