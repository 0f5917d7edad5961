/* SPDX-License-Identifier: Apache-2.0 */
/* Pragmas of launches, completed by what is declared or inferred. */
#ifndef KMMCC_ANALYZE_DECLARE_H
#define KMMCC_ANALYZE_DECLARE_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "analyze/declaration.h"
#include "clang/unit.h"
#include "pragma/directive.h"

/* Adds to the pragmas of launches what `declare kernel` says; true if the units have to be parsed
 * and bound again: then the messages from `first` on are taken back. */
bool declare_complete(unit_t *u, int first);
/* Finds the kernels of all declarations, and says where there is none. */
declaration_t *declare_bind(unit_t *u);
/* Whether some item of the launch names the argument. */
bool declare_covers(const directive_t *d, CXCursor argument);
/* Adds to the launch's pragma what it leaves to the declaration; false: an error was reported. */
bool declare_add(unit_t *u, directive_t *d, const declaration_t *n);

#endif
