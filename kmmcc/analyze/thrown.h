/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions of plain functions that are others in chunks than in one call. */
#ifndef KMMCC_ANALYZE_THROWN_H
#define KMMCC_ANALYZE_THROWN_H

#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* False: an error was reported. */
bool check_thrown(unit_t *u, directive_t *d);

#endif
