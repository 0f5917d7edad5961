/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a kernel's accesses in the names of its parameters: declared by a pragma, or
 * inferred from its code. */
#ifndef KMMCC_DECLARE_H
#define KMMCC_DECLARE_H

#include "directive.h"

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

declaration_t *declaration_of_kernel(unit_t *u, directive_t *d, CXCursor kernel);
/* Finds the kernels of all declarations, and says where there is none. */
declaration_t *declare_bind(unit_t *u);
/* Whether some item of the launch names the argument. */
bool declare_covers(const directive_t *d, CXCursor argument);
/* Adds to the launch's pragma what it leaves to the declaration; false: an error was reported. */
bool declare_add(unit_t *u, directive_t *d, const declaration_t *n);

/* ---- infer.c ---- */
/* Whose the range of the launch will be. */
typedef enum range { RANGE_INFERRED, RANGE_GIVEN } range_t;
/* What the kernel's code shows of the wanted parameters; NULL: nothing. */
declaration_t *infer_kernel(unit_t *main, CXCursor definition, const bool *wanted, range_t range);

#endif
