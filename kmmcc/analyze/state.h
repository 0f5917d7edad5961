/* SPDX-License-Identifier: Apache-2.0 */
/* What a plain function keeps outside of its arguments. */
#ifndef KMMCC_ANALYZE_STATE_H
#define KMMCC_ANALYZE_STATE_H

#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Reports variables of static storage that a plain function changes, and arrays of the clauses that
 * it reaches by their names. False: an error was reported. */
bool check_state(unit_t *u, directive_t *d);
/* True if the plain function may read variables that the program can change while its chunks run:
 * those of static storage that are not constant, or any, where code of the program is not seen. */
bool state_is_read(const unit_t *u, const directive_t *d);

#endif
