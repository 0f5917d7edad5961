/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a function as a tree with places in the source, and its variables. read.c reads it;
 * later stages write down what they find out.
 */
#ifndef KMMCC_CPU_TREE_TREE_H
#define KMMCC_CPU_TREE_TREE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "clang/unit.h"

typedef struct node node_t;
typedef struct variable variable_t;

/* How a variable of the function outlives the phase in which it is declared. */
typedef enum storage {
    STORAGE_SHARED,     /* declared once for the block: shared, static, constexpr */
    STORAGE_UNIFORM,    /* all threads have the same value: one variable of the block */
    STORAGE_RECOMPUTED, /* its initializer is cheap and always the same: declared again where it is
                           used */
    STORAGE_THREAD,     /* one value for each thread */
    STORAGE_PHASE       /* used only in the phase that declares it */
} storage_t;

struct variable {
    CXCursor cursor;
    const char *name;
    node_t *declaration; /* VarDecl or ParmDecl; NULL for a parameter until it is looked at */
    node_t *scope;       /* the statement that ends its life */
    node_t *initializer; /* NULL: none */
    node_t **change;     /* the expressions that assign to it */
    int change_count, change_capacity;
    bool is_parameter, is_scalar, is_array, is_reference;
    bool is_binding;        /* a name of a structured binding, which stays in its phase */
    bool is_generic;        /* its type is a parameter of a template; is_scalar too */
    bool escapes;           /* something else may change it: its address is taken, or a reference */
    bool is_pointed_at;     /* something may point to it beyond its phase */
    bool is_named_by_block; /* the block names it outside of phases, where its type is known */
    bool is_block_level;    /* declared in a statement of the block */
    storage_t storage;
    int phase;           /* the one that declares it */
    bool crosses_phases; /* some other one uses it */
    int changed_in;      /* the last phase found to change it */
    int number;          /* its index in body_tree_t */
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
    variable_t *variable;        /* that it declares or names */
    node_t *target;              /* of a jump: what it leaves or goes on with; NULL: the function */
    const char *called;          /* of a call: the function's name, once tree_read has found it */
    collective_t collective;     /* of a call: what it is to the threads of a block */
    const char *collective_name; /* the same as `called`; NULL: it is not collective */
    bool has_collective;         /* it or a part of it is a collective call */
    bool is_divided;    /* a statement of the block, with phases in it; others are in one phase */
    bool is_left_early; /* a loop or switch that some threads leave, or continue, before others */
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

/* The first function that is found to stop the division says why. False. */
bool tree_fail(body_tree_t *b, const node_t *n, const char *reason);
bool tree_is_loop(const node_t *n);
/* Without parentheses and conversions that are not written. */
const node_t *tree_bare(const node_t *n);
/* Without casts, too. */
const node_t *tree_stripped(const node_t *n);
/* Whether it holds for some node of the tree below and including n. */
bool tree_any(const node_t *n, bool (*holds)(const node_t *n, const void *context),
              const void *context);

#endif
