/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what kernels, and the functions that they call, read of the grid. */
#ifndef KMMCC_GPU_REACH_H
#define KMMCC_GPU_REACH_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"
#include "clang/unit.h"

typedef struct function function_t;

/* A lambda in a function. */
typedef struct lambda {
    struct lambda *up, *next;
    CXCursor cursor;
    size_t begin, end;
    bool written; /* in the source, not by a macro */
    bool reads_index, reads_dim, reads_group, calls_told;
} lambda_t;

/* A place in a function that names functions of the program. */
typedef struct reach_call {
    struct reach_call *next;
    CXCursor cursor;
    const char *name;
    size_t at;    /* of the name */
    bool written; /* in the source, not by a macro */
    bool is_member;
    bool is_told; /* the call can be one of a copy */
    lambda_t *lambda;
    function_t **callee;
    int callee_count;
} reach_call_t;

typedef struct change {
    size_t begin, end;
    const char *text;
    struct change *next;
} change_t;

enum { MOST_MOVED = 8, MOVED_NUMBERS = 32 };

/*
 * A function that uses blockIdx, gridDim or the group of the grid depends on which part of the grid
 * runs, and is copied. A copy that is called by its name is told the part by a parameter: it is
 * `told`. A copy that is reached otherwise, as through a pointer, looks the part up in shared
 * memory, where every kernel of the translation unit stores it: it is `shared`. A function may be
 * both.
 */
struct function {
    function_t *next;
    CXCursor cursor; /* cursor of its definition */
    unit_t *u;       /* file that the function is in; NULL: a macro writes it */
    size_t begin, end;
    const char *name;
    /* of the function itself, without its callees */
    bool is_kernel, reads_index, reads_dim, reads_group;
    bool hidden;          /* uses the index or the grid in code that #if hides from clang */
    bool is_hidden_group; /* a macro names the grid's group */
    bool asks_assembly;   /* assembly reads the block's index, or the grid */
    bool calls_pointer;   /* it calls a function through a pointer */
    bool is_cluster, syncs_grid;
    bool is_open;    /* it names functions that only template arguments resolve */
    bool is_reached; /* a kernel reaches it */
    bool is_told, is_shared, is_copied;
    bool holds_lambdas; /* runs on the host and has lambdas */
    reach_call_t *calls;
    lambda_t *lambdas;
    change_t *changes; /* changes of its text in the copy */
    bool is_special;   /* a template that has explicit specializations */
    /* Set by partials.c: the parameters that the clone moves to a partial, as bits of their numbers
     * and by name. Parameter 0 is the clone's own. */
    unsigned moved;
    const char *moved_name[MOST_MOVED];
    int moved_count;
};

/* Adds the kernel and the functions that it reaches to u->functions. */
function_t *reach_kernel(unit_t *u, CXCursor definition);
/* Sets is_told and is_shared of all functions, after all kernels have been added. */
void reach_close(unit_t *u);
bool reach_is_told(const function_t *f);
/* Returns the offset behind the parenthesis that opens the arguments; 0 if it is no call. */
size_t reach_open(const source_t *s, const reach_call_t *call);

#endif
