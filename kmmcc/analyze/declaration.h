/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A declaration: a kernel's accesses in terms of its parameters, as a pragma declares them or as
 * they are inferred from its code.
 */
#ifndef KMMCC_ANALYZE_DECLARATION_H
#define KMMCC_ANALYZE_DECLARATION_H

#include <clang-c/Index.h>

#include "base/source.h"
#include "clang/unit.h"
#include "pragma/directive.h"

enum { MAX_PARAMETERS = 256 };

typedef struct declaration {
    struct declaration *next;
    unit_t *u;         /* of the pragma */
    directive_t *d;    /* axes, shapes and items */
    const source_t *s; /* the text of d if d is no pragma of the unit; otherwise NULL */
    CXCursor kernel;
    CXCursor parameter[MAX_PARAMETERS];
    const char *name[MAX_PARAMETERS], *template_name[MAX_PARAMETERS];
    int count, template_count;
} declaration_t;

/* Returns a new declaration of the kernel, with the names of its parameters. */
declaration_t *declaration_of_kernel(unit_t *u, directive_t *d, CXCursor kernel);
/* Finds the kernels of all declarations; reports declarations without one. Returns the list of the
 * others. */
declaration_t *declaration_bind_all(unit_t *u);
/* Returns the declaration of the kernel; NULL if there is none. */
declaration_t *declaration_find(declaration_t *list, CXCursor kernel);

#endif
