/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the directives `data` and `task`. */
#ifndef KMMCC_ANALYZE_CHECK_BLOCK_H
#define KMMCC_ANALYZE_CHECK_BLOCK_H

#include "clang/unit.h"
#include "pragma/directive.h"

void check_data(unit_t *u, directive_t *d);
void check_task(unit_t *u, directive_t *d);

#endif
