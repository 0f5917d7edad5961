/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the variables that a plain function reads by their names. */
#ifndef KMMCC_EMIT_VARIABLES_H
#define KMMCC_EMIT_VARIABLES_H

#include "clang/unit.h"
#include "pragma/directive.h"

/* Returns the definition of the table, called `name`, and stores its length. NULL: there is no such
 * variable. */
const char *variables_table(unit_t *u, const directive_t *d, const char *name, int *count);

#endif
