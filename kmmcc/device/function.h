/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a module of device code: PTX, or LLVM's IR for AMD's GPUs. */
#ifndef KMMCC_DEVICE_FUNCTION_H
#define KMMCC_DEVICE_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

/* A kernel or function that is defined in the module. */
typedef struct device_function {
    struct device_function *next; /* in the order of the text */
    const char *name;
    const char *first_parameter; /* NULL: it has none */
    bool is_kernel;
    bool is_clone; /* a kernel that gets a chunk's table */
    bool is_odd;   /* a clone that gets it in a form which is not known */
    bool is_check; /* kmm_check_access itself */
    /* offsets: of its line (of IR only), of its body, and of the brace that ends it */
    size_t begin, body, end;
    unsigned long attributes; /* of IR only: the number of its group */
    const char *text;         /* of the body with its accesses checked */
    int accesses;
    bool calls_unknown;  /* calls by an address */
    list_t calls;        /* names of functions */
    const char *unknown; /* what the check does not know of it; NULL: nothing */
    const char *place;   /* "file:line" of that; "?": it has none */
    bool is_visited;
} device_function_t;

/* Sets what the check does not know of the function, unless something is set. */
void function_refuse(device_function_t *f, const char *why, const char *place);
/* True if the kernel may call a function that looks the table up. `harmless`: names of functions
 * outside of the module that access no array; the list ends with NULL. */
bool functions_are_checked(device_function_t *all, device_function_t *kernel,
                           const char *const *harmless);
/* Reports the clones of which something is not known, also of what they may call. True: there are
 * some. `path`: the file in messages. */
bool functions_refuse(device_function_t *all, const char *const *harmless, const char *path);

#endif
