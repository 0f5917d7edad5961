/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that expressions of clauses are integers. */
#ifndef KMMCC_ANALYZE_CHECK_SCALAR_H
#define KMMCC_ANALYZE_CHECK_SCALAR_H

#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"
#include "pragma/expression.h"

/* These return false after an error was reported. */
bool check_calls(unit_t *u, const directive_t *d, const expr_t *e);
/* Checks that no expression of the directive has side effects. */
bool check_effects(unit_t *u, const directive_t *d);
bool check_scalar(unit_t *u, const directive_t *d, const expr_t *e);
void check_scalars(unit_t *u, directive_t *d);

#endif
