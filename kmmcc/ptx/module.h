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
    size_t body, end; /* offsets behind its first brace, and of its last one */
    const char *text; /* the body with calls of the check */
    int accesses;
    bool calls_unknown;       /* calls by an address */
    list_t calls;             /* names of functions */
    const char *unknown;      /* an instruction of it that the check does not know; NULL: none */
    const char *unknown_line; /* "file:line" */
    bool is_visited;
} ptx_function_t;

/* Returns the functions in the order of the text. */
ptx_function_t *module_functions(const char *ptx);
/* Returns the name by which a user knows a kernel, given the name of the kernel or of its clone in
 * device code. */
const char *module_kernel_name(const char *name);

#endif
