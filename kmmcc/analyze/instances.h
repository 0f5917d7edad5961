/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in templates, and the instances of these templates that a file makes. */
#ifndef KMMCC_ANALYZE_INSTANCES_H
#define KMMCC_ANALYZE_INSTANCES_H

#include <stdbool.h>

#include "analyze/uses.h"
#include "clang/unit.h"
#include "pragma/directive.h"

/* Finds the instances of all launches in templates, and whether all of them are known. Returns code
 * that names those that were not found, so that a parse with that code finds them; NULL: there is
 * none to write. */
const char *instances_find(unit_t *main);
/* True if all instances that the file makes are known, and there is at least one. */
bool instances_are_known(const directive_t *d);
/* True if the file makes no instance, so that the launch does not happen. */
bool instances_are_none(const directive_t *d);
/* uses_find of `called`, which the launch runs; of all instances together, if these are known. */
bool instances_use(const directive_t *d, CXCursor called, int number, uses_t *out);
/* Returns the type of the launched function's parameter: of an instance, if these are known. */
CXType instances_parameter(const directive_t *d, int number, CXType declared);

#endif
