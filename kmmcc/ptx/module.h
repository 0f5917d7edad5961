/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a PTX module. */
#ifndef KMMCC_PTX_MODULE_H
#define KMMCC_PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

/* A kernel or function that is defined in the module. */
typedef struct ptx_function {
    struct ptx_function *next;
    const char *name;
    const char *first_parameter; /* NULL: it has none */
    bool is_kernel;
    bool is_clone;    /* a kernel that gets a chunk's table */
    bool is_check;    /* kmm_check_access itself */
    size_t body, end; /* offsets behind the brace that opens it, and of the one that ends it */
    const char *text; /* of the body with its accesses checked */
    int accesses;
    bool calls_unknown;       /* calls by an address */
    list_t calls;             /* names of functions */
    const char *unknown;      /* what the check does not know of it; NULL: nothing */
    const char *unknown_line; /* "file:line" */
    bool is_visited;
} ptx_function_t;

/* Returns the functions in the order of the text. */
ptx_function_t *module_functions(const char *ptx);
/* Returns the name of a kernel or of its clone as a user knows it, of that in device code. */
const char *module_kernel_name(const char *name);

#endif
