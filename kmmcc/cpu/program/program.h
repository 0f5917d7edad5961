/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a program that concern the CPU target: definitions, kernels, and the device
 * functions that kernels call.
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
    bool is_device; /* it is or holds device code, which kernels may reach without its name: an
                       operator, a lambda */
    unit_t *ptx;    /* the file with its assembly for GPUs; NULL: it has none */
    size_t ptx_begin, ptx_end;
} definition_t;

typedef struct kernel {
    CXCursor cursor;
    unit_t *u;         /* the file with its definition */
    size_t begin, end; /* position of the definition */
    definition_t *definition;
    int flags;
} kernel_t;

/* A device function that kernels can call by its name. `u` is NULL if no file of the program has
 * its text. */
typedef struct callee {
    CXCursor cursor;
    unit_t *u;
    size_t begin, end;
    definition_t *definition;
} callee_t;

typedef struct program {
    unit_t *u; /* its main file */
    definition_t **definitions;
    int definition_count, definition_capacity;
    kernel_t *kernels;
    int kernel_count, kernel_capacity;
    callee_t *callees;
    int callee_count, callee_capacity;
    /* Names of functions and macros, set by requirements.c: */
    list_t barriers; /* that reach a barrier or another collective operation */
    list_t indexed;  /* that read the index variables */
    /* Set by callee.c: names of functions with barriers that cannot be split. */
    list_t fibers;
    /* A definition with barriers that kernels may reach without its name: as an operator, a lambda
     * or a template argument. The threads of all kernels are then fibers. NULL: there is none. */
    const definition_t *hidden;
    bool has_groups; /* the program uses cooperative groups */
    /* Names found by scan.c: */
    list_t elsewhere; /* functions of the device that another file defines */
    list_t globals;   /* variables of the device outside functions, which kernels can change */
    list_t pointing;  /* __constant__ variables that hold pointers */
} program_t;

#endif
