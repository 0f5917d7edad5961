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
    const source_t *s; /* of d when it is no pragma of the unit; NULL */
    CXCursor kernel;
    CXCursor parameter[MAX_PARAMETERS];
    const char *name[MAX_PARAMETERS], *template_name[MAX_PARAMETERS];
    int count, template_count;
} declaration_t;

/* A declaration with the names of the kernel's parameters. */
declaration_t *declaration_of_kernel(unit_t *u, directive_t *d, CXCursor kernel);
/* Finds the kernels of all declarations, and says where there is none. */
declaration_t *declaration_bind_all(unit_t *u);
/* The declaration of the kernel; NULL: there is none. */
declaration_t *declaration_find(declaration_t *list, CXCursor kernel);

#endif
