/* SPDX-License-Identifier: Apache-2.0 */
/* Clauses against what the kernel's code accesses. */
#ifndef KMMCC_ANALYZE_COMPARE_H
#define KMMCC_ANALYZE_COMPARE_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Reports items of a kernel launch that certainly name less than the kernel accesses. False: an
 * error was reported. */
bool compare_accesses(unit_t *u, directive_t *d);

#endif
