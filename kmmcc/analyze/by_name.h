/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of static storage that a plain function reads by their names. */
#ifndef KMMCC_ANALYZE_BY_NAME_H
#define KMMCC_ANALYZE_BY_NAME_H

#include <clang-c/Index.h>
#include <stdint.h>

#include "clang/unit.h"
#include "pragma/directive.h"

typedef struct named {
    const char *shown;      /* in messages */
    const char *expression; /* an lvalue, where the launch stands */
    long long bytes;        /* 0: not known */
    unsigned kind;          /* of kmm_variable_kind_t */
} named_t;

typedef struct names {
    named_t *at;
    int count, capacity;
    CXCursor mention, variable; /* the first array that the launch cannot name; null: none */
} names_t;

/* Finds those whose address libkmm has to know: a launch may write them by another name. d launches
 * a plain function. Constants are left out, and numbers whose address the file never takes. */
names_t by_name_find(unit_t *u, const directive_t *d);
/* Warns (-Wkmm-unproven) of the first array that the launch cannot name. */
void check_by_name(unit_t *u, directive_t *d);

#endif
