/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program has that concerns the CPU target: definitions, kernels and the functions of the
 * device that they call.
 */
#ifndef KMMCC_CPU_PROGRAM_PROGRAM_H
#define KMMCC_CPU_PROGRAM_PROGRAM_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "clang/unit.h"

/* A function or macro of the program: its name, and the names in it. */
typedef struct definition {
    const char *name;
    list_t names;
    bool is_kernel, is_called_by_name, is_macro;
    bool is_device; /* some of its code is the device's, even where no kernel names it: an operator,
                       a lambda */
    unit_t *ptx;    /* the file in which it has assembly for GPUs; NULL: it has none */
    size_t ptx_begin, ptx_end;
} definition_t;

typedef struct kernel {
    CXCursor cursor;
    unit_t *u;         /* the file with its definition */
    size_t begin, end; /* of that */
    definition_t *definition;
    int flags;
} kernel_t;

/* A function of the device that a kernel can call by its name. */
typedef struct callee {
    CXCursor cursor;
    unit_t *u;
    size_t begin, end;
    definition_t *definition;
} callee_t;

typedef struct program {
    unit_t *u;
    definition_t **definitions;
    int definition_count, definition_capacity;
    kernel_t *kernels;
    int kernel_count, kernel_capacity;
    callee_t *callees;
    int callee_count, callee_capacity;
    list_t barriers; /* functions that meet at barriers */
    list_t indexed;  /* functions that read the index variables */
    list_t
        elsewhere; /* functions of the device that another file defines: they may read them, too */
    list_t fibers; /* functions that meet at barriers and are not split */
    const definition_t *hidden; /* one that meets and may be reached without its name; NULL: none */
    bool has_groups;
    list_t globals;  /* variables of the device outside functions that kernels can change */
    list_t pointing; /* constant ones that hold pointers */
} program_t;

#endif
