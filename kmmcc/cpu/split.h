/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that meet at barriers, as loops over the threads of a block. body.c reads a function's
 * body, uniformity.c finds what is the same for all threads, extent.c how large blocks are, split.c
 * writes the loops, callee.c what functions of the device become.
 */
#ifndef KMMCC_SPLIT_H
#define KMMCC_SPLIT_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "clang/unit.h"

typedef struct node node_t;
typedef struct variable variable_t;

/* How a variable of the function outlives the region in which it is declared. */
typedef enum storage {
    STORAGE_SHARED,     /* declared once for the block: shared, static, constexpr */
    STORAGE_UNIFORM,    /* all threads have the same value: one variable of the block */
    STORAGE_RECOMPUTED, /* its initializer is cheap and always the same: declared again where it is
                           used */
    STORAGE_THREAD,     /* one value for each thread */
    STORAGE_REGION      /* used only in the region that declares it */
} storage_t;

struct variable {
    CXCursor cursor;
    const char *name;
    node_t *declaration; /* VarDecl or ParmDecl; NULL for a parameter until it is looked at */
    node_t *scope;       /* the statement that ends its life */
    node_t *initializer; /* NULL: none */
    node_t **change;     /* the expressions that assign to it */
    int change_count, change_capacity;
    bool is_parameter, escapes, is_scalar, is_array, is_reference;
    bool is_generic;        /* its type is a parameter of a template; is_scalar too */
    bool is_pointed_at;     /* something may point to it beyond its region */
    bool is_named_by_block; /* its type must be known to the block */
    bool is_block_level;    /* declared in a statement of the block */
    storage_t storage;
    int region;           /* the one that declares it */
    bool crosses_regions; /* some other one uses it */
    int changed_in;       /* the last one found to change it */
    int number;
};

/* What a call of a function by some name is to the threads of a block. */
typedef enum collective {
    COLLECTIVE_NONE,
    COLLECTIVE_BUILTIN,  /* __syncthreads and what else kmm_block.h has */
    COLLECTIVE_LIBRARY,  /* of the library's groups */
    COLLECTIVE_FUNCTION, /* of the program, with barriers; it is called as kmm_call.h says */
    COLLECTIVE_FIBERS    /* of the program; it could not be split */
} collective_t;
typedef collective_t (*collective_of_t)(const void *context, const char *name);

/* A cursor of the body, with its place in the source. */
struct node {
    CXCursor cursor;
    enum CXCursorKind kind;
    size_t begin, end; /* equal: nowhere in the source */
    node_t *parent, *child, *last, *next;
    variable_t *variable; /* that it declares or names */
    node_t
        *target; /* of a jump: the statement that it leaves or goes on with; NULL: the function */
    const char *collective_name; /* of a call: the name of what all threads do together */
    collective_t collective;     /* what that is */
    const char *called;          /* of a call: the function's name, once tree_read has found it */
    bool has_collective;         /* it or a part of it is such a call */
    bool is_divided;             /* a statement of the block, not of each thread */
    bool is_left_early; /* a loop that some threads may leave or go on with before others */
    int number; /* of a loop of the block: state of threads that wait for its end; + 1: for its next
                   round */
};

typedef struct body_tree {
    unit_t *u;
    node_t *root; /* the compound statement */
    variable_t *variable;
    int variable_count, variable_capacity;
    bool is_kernel;     /* its parameters are the same for all threads */
    const char *reason; /* why it cannot be split; NULL: it can */
    size_t reason_at;
} body_tree_t;

/* ---- body.c ---- */
bool tree_read(body_tree_t *b, unit_t *u, CXCursor function, collective_of_t collective_of,
               const void *context);
bool tree_fail(body_tree_t *b, const node_t *n, const char *reason); /* false */
bool tree_is_loop(const node_t *n);
const char *call_name(const node_t *call);
int call_arguments(const node_t *call, node_t **argument, int room); /* how many there are */
/* How a function takes an argument; PASSED_UNKNOWN: that is not known. */
typedef enum passing {
    PASSED_BY_VALUE,
    PASSED_BY_CONST,
    PASSED_BY_REFERENCE,
    PASSED_UNKNOWN
} passing_t;
passing_t call_passing(const node_t *call, const node_t *argument);
/* A loop's or branch's parts by their places: NULL where there is none. */
typedef struct parts {
    node_t *initial, *condition, *increment, *first, *second;
    size_t open, close, semicolon[2];
} parts_t;
bool parts_of(body_tree_t *b, const node_t *n, parts_t *out);
size_t statement_end(const body_tree_t *b, const node_t *n); /* behind the statement's semicolon */

/* ---- uniformity.c ---- */
typedef enum uniformity {
    UNIFORM,
    THREAD_DEPENDENT,
    DIVERGENT
} uniformity_t; /* THREAD_DEPENDENT: only with threadIdx and what it gives */
void uniformity_find(body_tree_t *b);
uniformity_t uniformity_of(const body_tree_t *b, const node_t *expression);

/* ---- extent.c ---- */
/* The size of a block in some launch of the kernel in the file; false: it is not written there. */
bool extent_find(const unit_t *main, CXCursor kernel, unsigned extent[3]);
/* How often a loop of the block runs in blocks of that size; 0: that is not known, it does not, or
 * it does more often than that. */
int extent_rounds(const node_t *loop, const parts_t *p, const unsigned extent[3], int most);

/* ---- split.c ---- */
typedef struct split {
    unit_t *u;
    CXCursor function;
    int flags; /* as in kmm_launch.h */
    bool is_kernel;
    bool keeps_edits; /* the unit's edits of the body stay, as it is written too */
    collective_of_t collective_of;
    const void *context;
    const unsigned
        *extent; /* of the blocks for which a body of its own pays, if any does; NULL: not known */
    const char **sized; /* gets its text; it is left where there is none. NULL where extent is */
} split_t;
/* The text of a body for the block, braces included, whose edits it takes from the unit; *flags:
 * what else kmm_launch.h must know. NULL: it cannot be split. */
const char *split_body(const split_t *s, int *flags, const char **reason, size_t *reason_at);

/* ---- callee.c ---- */
/* The edits by which a function of the device runs for a block as kmm_call.h says, beside its own
 * body. */
bool callee_edit(const split_t *s, bool dry, const char **reason, size_t *reason_at);

/* ---- shared.c ---- */
/* The bytes of shared memory that a function declares; what depends on its template's parameters is
 * added to `types`, unless that is NULL, as C++. */
unsigned long long shared_declared(CXCursor function, text_t *types);

#endif
