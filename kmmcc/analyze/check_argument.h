/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what clauses say of the arguments of a launch. */
#ifndef KMMCC_ANALYZE_CHECK_ARGUMENT_H
#define KMMCC_ANALYZE_CHECK_ARGUMENT_H

#include <clang-c/Index.h>

#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

typedef struct parameter_list {
    CXCursor at[256];
    int count;
} parameter_list_t;

parameter_list_t *check_parameters(CXCursor f);
/* A parameter pack has no name in clauses, so it may pass no pointers. False: it is refused. The
 * directive is bound to no instance. */
bool check_pack(unit_t *u, directive_t *d);
void check_arguments(unit_t *u, directive_t *d);
void check_note(const unit_t *u, CXCursor where, const char *text);
/* Shows a place that the IR names, if the file is one of the program's. */
void check_note_at(const unit_t *u, const char *file, int line, int column, const char *text);
/* Checks what the function does with its parameter `number` against the items whose base begins as
 * the argument does. */
void check_parameter_use(unit_t *u, const directive_t *d, CXCursor f, CXCursor argument,
                         int number);
void check_uses(unit_t *u, const directive_t *d);
/* Finds addresses that the code stores. */
void check_stored_addresses(unit_t *u, directive_t *d);

#endif
