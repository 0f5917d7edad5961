/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a function as a tree of nodes with their positions in the source, and its variables.
 * read.c fills it in; later stages add what they find.
 */
#ifndef KMMCC_CPU_TREE_TREE_H
#define KMMCC_CPU_TREE_TREE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "clang/unit.h"

typedef struct node node_t;
typedef struct variable variable_t;

/* Where the value of a variable is kept from one phase to another. */
typedef enum storage {
    STORAGE_SHARED,     /* declared once for the block: shared, static, constexpr */
    STORAGE_UNIFORM,    /* all threads have the same value: one variable of the block */
    STORAGE_RECOMPUTED, /* its initializer is cheap and always has the same value: each phase that
                           uses it declares it again */
    STORAGE_THREAD,     /* one value for each thread */
    STORAGE_PHASE       /* used only in the phase that declares it */
} storage_t;

struct variable {
    CXCursor cursor;
    const char *name;
    node_t *declaration; /* VarDecl, or that of structured bindings; NULL for a parameter */
    node_t *scope;       /* the statement at whose end it is destroyed */
    node_t *initializer; /* NULL: none */
    node_t **change;     /* the expressions that assign to it */
    int change_count, change_capacity;
    bool is_parameter, is_scalar, is_array, is_reference;
    bool is_binding;        /* a name of a structured binding, which stays in its phase */
    bool is_generic;        /* its type is a parameter of a template; is_scalar is true too */
    bool escapes;           /* it may be changed through its address or a reference to it */
    bool is_pointed_at;     /* a pointer to it may outlive its phase */
    bool is_named_by_block; /* the block names it outside of phases, for its type */
    bool is_block_level;    /* declared in a statement of the block */
    storage_t storage;
    int phase;           /* number of the phase that declares it */
    bool crosses_phases; /* another phase uses it */
    int changed_in;      /* number of the last phase that is known to change it */
    int number;          /* its index in body_tree_t */
};

/* How the threads of a block execute a call. */
typedef enum collective {
    COLLECTIVE_NONE,
    COLLECTIVE_BUILTIN,  /* __syncthreads and what else kmm_block.h has */
    COLLECTIVE_LIBRARY,  /* an operation of cooperative groups */
    COLLECTIVE_FUNCTION, /* a function of the program with barriers, called as kmm_call.h says */
    COLLECTIVE_FIBERS    /* a function of the program with barriers that cannot be split */
} collective_t;
typedef collective_t (*collective_of_t)(const void *context, const char *name);

/* A cursor of the body, with its position in the source. */
struct node {
    CXCursor cursor;
    enum CXCursorKind kind;
    size_t begin, end; /* equal: it is not in the source */
    node_t *parent, *child, *last, *next;
    variable_t *variable;        /* the variable that it declares or names */
    node_t *target;              /* of a break or continue: its loop or switch */
    const char *called;          /* of a call: the function's name, set by tree_read */
    collective_t collective;     /* of a call */
    const char *collective_name; /* the same as `called`; NULL: it is not collective */
    bool has_collective;         /* the node or a part of it is a collective call */
    bool is_divided; /* a statement of the block, with phases in it; others are part of a phase */
    bool is_left_early; /* a loop or switch that some threads leave, or continue, before others */
    int number; /* of a loop or switch of the block: state of threads that wait for its end; + 1:
                   for the loop's next round, or the switch's next group */
};

typedef struct body_tree {
    unit_t *u;
    node_t *root; /* the compound statement */
    variable_t *variable;
    int variable_count, variable_capacity;
    bool is_kernel;     /* its parameters are uniform */
    const char *reason; /* why it cannot be split; NULL: nothing prevents it */
    size_t reason_at;
} body_tree_t;

/* Records why the body cannot be split, unless a reason is recorded already. Returns false. */
bool tree_fail(body_tree_t *b, const node_t *n, const char *reason);
/* Returns the operator of a binary operation, which assignments with an operator are not; otherwise
 * CXBinaryOperator_Invalid. */
enum CXBinaryOperatorKind tree_operator(const node_t *n);
/* True for `for`, `while` and `do` loops. */
bool tree_is_loop(const node_t *n);
/* Returns the expression in parentheses and implicit conversions. */
const node_t *tree_bare(const node_t *n);
/* Returns the expression in parentheses, implicit conversions and C casts. */
const node_t *tree_stripped(const node_t *n);
/* True if `holds` is true for some node of the tree `n`. */
bool tree_any(const node_t *n, bool (*holds)(const node_t *n, const void *context),
              const void *context);

#endif
