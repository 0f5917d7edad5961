/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the rebase clause. */
#ifndef KMMCC_ANALYZE_CHECK_REBASE_H
#define KMMCC_ANALYZE_CHECK_REBASE_H

#include "clang/unit.h"
#include "pragma/directive.h"

void check_rebase(unit_t *u, directive_t *d);

#endif
