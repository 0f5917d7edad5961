/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the pragma of a launch by a declaration. */
#ifndef KMMCC_ANALYZE_COMPLETE_H
#define KMMCC_ANALYZE_COMPLETE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyze/declaration.h"
#include "clang/unit.h"
#include "pragma/directive.h"

/* True if some item of the launch names the argument. */
bool complete_covers(const directive_t *d, CXCursor argument);
/* Adds those clauses to the launch's pragma that it leaves to the declaration. False after an error
 * was reported. */
bool complete_add(unit_t *u, directive_t *d, const declaration_t *n);

/* A text to insert into a file of the program before the file is parsed again. */
typedef struct insertion {
    struct insertion *next;
    size_t at;
    const char *text;
} insertion_t;

/* True if the argument's text is a null pointer. */
bool complete_is_null(const char *text);

#endif
