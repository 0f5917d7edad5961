/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one pragma says (filled by pragma/parse.c), what it governs (clang/bind.c), and what follows
 * from that (analyze/). The words are those of docs/language.md.
 */
#ifndef KMMCC_PRAGMA_DIRECTIVE_H
#define KMMCC_PRAGMA_DIRECTIVE_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/token.h"
#include "kmm/launch.h"
#include "pragma/expression.h"
#include "pragma/form.h"
#include "pragma/pragma.h"

typedef struct affine {
    form_t constant, coef[KMM_MAX_AXES];
} affine_t;

typedef struct section {
    size_t begin, end;      /* with brackets */
    expr_t *lower, *length; /* lower is NULL for [:]; length is NULL for [e] */
    affine_t lower_form, length_form;
} section_t;

typedef struct shape {
    size_t begin, end;
    token_t name;
    expr_t *extent[KMM_MAX_DIMS];
    int dims;
    bool used;
} shape_t;

/* What a reduction works on, as include/kmm/launch.h says it. */
typedef struct reduced {
    kmm_type_t type; /* of the element, or of the value in a pair */
    bool is_vector;  /* two numbers that need not be a complex one */
    bool is_bool;
    bool is_pair;
    kmm_type_t index;
    long long bytes, value_at, index_at; /* of a pair */
} reduced_t;

typedef struct item {
    size_t begin, end;
    token_t word; /* the clause's name, when the item is alone in it */
    kmm_mode_t mode;
    kmm_op_t op; /* KMM_REDUCE */
    expr_t *base;
    section_t section[KMM_MAX_DIMS];
    int section_count;
    shape_t *shape;
    CXCursor root;     /* by check.c: the variable the base begins with; null when there is none */
    int inner_dims;    /* by check.c: N for a pointer to, or an array of, N-dimensional arrays */
    reduced_t reduced; /* by reduce.c: KMM_REDUCE */
} item_t;

typedef struct axis {
    size_t begin, end;
    token_t name_token;
    const char *name;
    kmm_source_t source;
    bool source_given, splits;
    expr_t *lower, *length; /* NULL: the whole grid */
} axis_t;

typedef enum rebase_kind { REBASE_LENGTH, REBASE_BEGIN, REBASE_END } rebase_kind_t;
typedef struct rebase {
    size_t begin, end;
    token_t name; /* a parameter, or its number after # */
    bool by_number;
    rebase_kind_t kind;
    int axis;
    int parameter; /* by check.c */
} rebase_t;

/* An array, or elements of it: of a map, `update` (whose direction is KMM_MAP_TO or KMM_MAP_FROM)
 * or `wait`. */
typedef struct map_item {
    kmm_map_t map;
    size_t begin, end;
    expr_t *base, *length, *lower;
} map_item_t;

typedef enum directive_kind {
    DIRECTIVE_PARALLEL,
    DIRECTIVE_TASK,
    DIRECTIVE_DATA,    /* govern a statement */
    DIRECTIVE_DECLARE, /* governs a kernel's declaration */
    DIRECTIVE_WAIT,
    DIRECTIVE_ENTER_DATA,
    DIRECTIVE_EXIT_DATA,
    DIRECTIVE_UPDATE /* stand alone */
} directive_kind_t;

/* How a launch is written. */
typedef enum launch_form {
    LAUNCH_FUNCTION, /* f(...), a plain function */
    LAUNCH_CHEVRON,  /* k<<<...>>>(...) */
    LAUNCH_CALL      /* cudaLaunchKernel(k, ...) and its like */
} launch_form_t;

/* A kernel that a launch may run. There are several when k is overloaded and its arguments depend
 * on a template, or is a pointer. */
typedef struct target_kernel {
    CXCursor kernel;     /* the function or function template */
    CXCursor definition; /* null if it is in another file */
    CXCursor instance;   /* the function that is launched; the template when only its arguments tell
                            which */
} target_kernel_t;

/* A place in the parsed text at which an expression of the pragma stands as a variable's
 * initializer. */
typedef struct probe {
    expr_t *expr;
    CXType type;
} probe_t;

/* What a clause NAME(value) or NAME("string") sets for the launch, by the call kmm_launch_NAME. */
typedef struct setting {
    token_t name;
    expr_t *value;  /* an integer; NULL: it is a string */
    token_t string; /* when value is NULL */
} setting_t;

enum {
    MAX_SETTINGS = 8,
    MAX_ITEMS = 128,
    MAX_PROBES = MAX_ITEMS * 18
}; /* each item, shape and map has at most 9, 4 and 3 */

typedef struct directive {
    directive_kind_t kind;
    pragma_t pragma;
    size_t name_begin, name_end; /* the directive's name */
    axis_t axis[KMM_MAX_AXES];
    int axis_count;
    expr_t *chunk[KMM_MAX_SPLIT];
    int chunk_count;
    size_t chunk_begin, chunk_end;
    item_t *item;
    int item_count;
    shape_t *shape;
    int shape_count;
    rebase_t *rebase;
    int rebase_count;
    size_t rebase_begin, rebase_end;
    map_item_t *map;
    int map_count;
    expr_t *condition;
    setting_t setting[MAX_SETTINGS];
    int setting_count;
    bool has_where, has_schedule, nowait, bounded;
    kmm_where_t where;
    expr_t *ordinal; /* KMM_ON_DEVICE */
    kmm_schedule_t schedule;
    expr_t *stream; /* of a task: a name */

    /* ---- bind.c ---- */
    probe_t *probe;
    int probe_count;
    size_t parsed_at;   /* where the probe begins in the parsed text */
    bool broken;        /* clang has reported an error in the pragma */
    bool bound;         /* the probe was found, so the pragma is not in a disabled region */
    CXCursor parent;    /* of the probe */
    CXCursor statement; /* what the pragma governs */
    size_t statement_begin, statement_end; /* with its semicolon; of `task` and `data` */
    CXCursor function;                     /* the function or function template around it */
    CXCursor top;       /* the declaration around that which is not in another but a namespace */
    CXCursor outermost; /* the declaration at the top of the file around that */
    CXCursor launch;    /* the call; null when there was an error */
    launch_form_t form;
    bool is_kernel;   /* form is not LAUNCH_FUNCTION */
    bool names_clone; /* the launch has to name the clone: its kernel is a template whose arguments
                         it gives */
    CXCursor callee;  /* the function or template that is called; null when there are several, or
                         none is known */
    CXCursor definition; /* of the callee; null if there is none */
    CXType callee_type;  /* of the function, when clang knows it */
    const char *
        home; /* by check.c: why the launch is one chunk on the current device; NULL: it is split */
    list_t
        shared_symbols; /* by check.c: variables that the kernel reads and other kernels change */
    const char *callee_name; /* for messages: the kernel's, or what is written in its place */
    target_kernel_t *target;
    int target_count;
    CXCursor *argument;
    int argument_count;
    bool *unused; /* by check_argument.c, of each argument: the kernel does not use what it points
                     to; NULL: none */
    size_t launch_begin,
        launch_end;             /* the statement that contains the launch, with the semicolon */
    size_t callee_begin;        /* of the callee as it is written, with what qualifies it */
    size_t name_at, name_after; /* the callee's name, template arguments not included */
    size_t template_end;        /* behind the template arguments; name_after when there are none */
    size_t open; /* behind the parenthesis that opens the arguments; 0 when a macro writes the
                    launch */
    int order;   /* position in the file, from 0 */

    /* ---- declare.c ---- */
    bool declares;          /* DIRECTIVE_DECLARE: a kernel follows */
    const char *check_head; /* DIRECTIVE_DECLARE: of the function in which it is checked; NULL: none
                               can be written */
    struct unit *declared_in; /* of a launch: where the declaration is that completed it, and which
                            one; NULL: none did */
    int declared_order;
    bool failed; /* check.c has reported an error in a declaration, declare.c one of a launch */
} directive_t;

/* Whether the directive governs no statement. */
static inline bool directive_stands_alone(const directive_t *d)
{
    return d->kind >= DIRECTIVE_WAIT;
}

#endif
