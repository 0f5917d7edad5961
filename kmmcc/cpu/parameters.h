/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a kernel as text, for the function into which the kernel's body moves. */
#ifndef KMMCC_CPU_PARAMETERS_H
#define KMMCC_CPU_PARAMETERS_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "cpu/program/program.h"

enum { MAX_PARAMETERS = 256 };
typedef struct parameters {
    CXCursor at[MAX_PARAMETERS];
    int count;
    CXCursor body;     /* null: the kernel's body is not seen */
    const char *text;  /* the parameters, each behind a comma */
    const char *names; /* their names as arguments, separated by commas */
} parameters_t;

/* Reads the kernel's parameters, and adds edits that name the unnamed ones. False if a macro writes
 * some of them. */
bool parameters_read(unit_t *u, const kernel_t *k, parameters_t *out);

#endif
