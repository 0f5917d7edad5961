/* SPDX-License-Identifier: Apache-2.0 */
/* What plain functions put into memory that all of their calls share. */
#ifndef KMMCC_ANALYZE_SHARED_H
#define KMMCC_ANALYZE_SHARED_H

#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Reports values that are others in chunks than in one call, and orders that chunks decide. False:
 * an error was reported. */
bool check_shared(unit_t *u, directive_t *d);
/* True if the function clears floating-point exceptions, for each element, before it asks for
 * them. */
bool shared_is_cleared(unit_t *u, directive_t *d);

#endif
