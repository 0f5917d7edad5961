/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a module of LLVM's IR for AMD's GPUs. */
#ifndef KMMCC_AMD_MODULE_H
#define KMMCC_AMD_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

/* A kernel or function that is defined in the module. */
typedef struct ir_function {
    struct ir_function *next;
    const char *name;
    const char *first_parameter; /* of a clone: its name, with the % */
    bool is_kernel;
    bool is_clone; /* a kernel that gets a chunk's table */
    bool is_odd;   /* a clone whose parameter for the table has an unknown form */
    bool is_check; /* kmm_check_access itself */
    size_t begin, body,
        end; /* offsets of its first line, of the byte behind that line, and of its last brace */
    unsigned long attributes; /* the number of its group */
    const char *text;         /* the body with calls of the check */
    int accesses;
    bool calls_unknown;  /* calls by an address */
    list_t calls;        /* names of functions */
    const char *unknown; /* an instruction of it that the check does not know; NULL: none */
    const char *place;   /* "file:line" of that */
    bool is_visited;
} ir_function_t;

/* Returns the functions in the order of the text. */
ir_function_t *ir_module_functions(const char *ir);

#endif
