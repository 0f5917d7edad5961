/* SPDX-License-Identifier: Apache-2.0 */
/* What a plain function keeps outside of its arguments. */
#ifndef KMMCC_ANALYZE_STATE_H
#define KMMCC_ANALYZE_STATE_H

#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Reports variables of static storage that a plain function changes, arrays of the clauses that it
 * reaches by their names, and library functions that keep a state or print. False: an error was
 * reported. */
bool check_state(unit_t *u, directive_t *d);

#endif
