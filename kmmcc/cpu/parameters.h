/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a kernel, as text for the functions that its body becomes. */
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
    CXCursor body;     /* null: the kernel has none */
    const char *text;  /* for another function, behind its first parameter */
    const char *names; /* as arguments for that */
} parameters_t;

/* Reads those of the kernel; unnamed ones get names. False: a macro writes some of them. */
bool parameters_read(unit_t *u, const kernel_t *k, parameters_t *out);

#endif
