/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directive: what one pragma says (filled in by pragma/parse.c), what it governs (clang/bind.c),
 * and what follows from both (analyze/). The words are those of docs/language.md.
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

typedef struct shape {
    size_t begin, end;
    token_t name;
    expr_t *extent[KMM_MAX_DIMS];
    int dims;
    bool used;
} shape_t;

typedef struct section {
    size_t begin, end;      /* position, including the brackets */
    expr_t *lower, *length; /* lower is NULL for [:]; length is NULL for [e] */
    affine_t lower_form, length_form;
    /* Of [p[e] : p[f] - p[e]], where data gives the ends: p, e and f - e. Then lower_form and
     * length_form have constants and coefficients that are not known. NULL: of all others. */
    const expr_t *offsets;
    const shape_t *offsets_shape; /* how many offsets there are; NULL: no clause says */
    affine_t first_part, part_count;
} section_t;

/* The element type of a reduction, in the terms of include/kmm/launch.h. */
typedef struct reduced {
    kmm_type_t type; /* type of the element, or of the value in a pair */
    bool is_vector;  /* two numbers, not necessarily a complex number */
    bool is_bool;
    bool is_pair;
    bool takes_number; /* a number, and not the target's value that is a NaN */
    kmm_type_t index;
    /* Size of a pair, and byte offsets of its value and index. */
    long long bytes, value_at, index_at;
} reduced_t;

typedef struct item {
    size_t begin, end;
    token_t word; /* the clause's name if the item is alone in its clause */
    kmm_mode_t mode;
    kmm_op_t op; /* KMM_REDUCE */
    expr_t *base;
    section_t section[KMM_MAX_DIMS];
    int section_count;
    shape_t *shape;
    CXCursor root; /* set by check.c: the variable that the base begins with; null: there is none */
    bool inferred; /* it is of a kernel's code; the pragma's text is completed by it */
    bool of_one;   /* it was added for one parameter, and says nothing of others */
    int parameter; /* that one; -1: none */
    int inner_dims; /* set by check.c: N for a pointer to, or an array of, N-dimensional arrays */
    reduced_t reduced; /* set by reduce.c for KMM_REDUCE */
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
    token_t name; /* a parameter's name, or its number after # */
    bool by_number;
    rebase_kind_t kind;
    int axis;
    int parameter; /* set by check.c: the parameter's index */
} rebase_t;

/* An item of a map, an `update` or a `wait`: an array or elements of it. The direction of an
 * `update` is KMM_MAP_TO or KMM_MAP_FROM. */
typedef struct map_item {
    kmm_map_t map;
    size_t begin, end;
    expr_t *base, *length, *lower;
} map_item_t;

/* One integer of fits(type: ...), which is computed in so few bits. */
typedef struct fits {
    size_t begin, end;
    int type;     /* index of fits_types */
    bool in_grid; /* for all threads of the grid */
    expr_t *value;
    affine_t form;
} fits_t;
typedef struct fits_type {
    const char *name;
    const char *constant; /* of kmm/launch.h */
} fits_type_t;
enum { FITS_TYPES = 6, MAX_FITS = 32 };
extern const fits_type_t fits_types[FITS_TYPES];

typedef enum directive_kind {
    DIRECTIVE_PARALLEL,
    DIRECTIVE_TASK,
    DIRECTIVE_DATA,    /* the directives so far govern a statement */
    DIRECTIVE_DECLARE, /* governs a kernel's declaration */
    DIRECTIVE_WAIT,
    DIRECTIVE_ENTER_DATA,
    DIRECTIVE_EXIT_DATA,
    DIRECTIVE_UPDATE /* from DIRECTIVE_WAIT on, directives stand alone */
} directive_kind_t;

/* The syntax of a launch. */
typedef enum launch_form {
    LAUNCH_FUNCTION, /* f(...), a plain function */
    LAUNCH_CHEVRON,  /* k<<<...>>>(...) */
    LAUNCH_CALL      /* cudaLaunchKernel(k, ...) and its like */
} launch_form_t;

/* A kernel that a launch may run. A launch has several if its callee is a pointer, or an
 * overloaded name whose arguments depend on a template. */
typedef struct target_kernel {
    CXCursor kernel;     /* the function or function template */
    CXCursor definition; /* null: it is in another file */
    /* The function that is launched; the template if only its arguments tell which. */
    CXCursor instance;
} target_kernel_t;

/* A launch in an instance of the templates around it. */
typedef struct instance {
    CXCursor statement; /* the one that begins with the directive's probe */
    CXCursor function;  /* the instance of the function around it */
    CXCursor kernel;    /* the function that is launched */
    const char *title;  /* the kernel with its template arguments */
    const char *place;  /* the function around it with its template arguments */
} instance_t;

typedef enum instances {
    INSTANCES_NONE, /* no template is around the launch, or it is not known what that means */
    INSTANCES_ALL,  /* all that the file makes are known: none, or some */
    INSTANCES_OPEN  /* some may be missing */
} instances_t;

/* Values of `pack`: the launch passes no parameter pack; one that is not its last argument, or
 * several, so that numbers of arguments differ from instance to instance. */
enum { PACK_NONE = -1, PACK_OPEN = -2 };

/* A probe: an expression of the pragma that is inserted into the parsed text as a variable's
 * initializer, so that clang types it. */
typedef struct probe {
    expr_t *expr;
    CXType type;
} probe_t;

/* A clause whose effect is the call kmm_launch_NAME(kmm__launch, constant, (int)value), or
 * kmm_launch_NAME(kmm__launch, string). No other part of kmmcc reads it. */
typedef struct setting {
    token_t name;
    const char *constant; /* C text; NULL: the call has no such argument */
    expr_t *value;        /* an integer; NULL: the call has no such argument */
    token_t string;       /* TOKEN_STRING, or {0} */
} setting_t;

enum {
    MAX_LAUNCH_DEVICES = 24, /* that a clause device names; libkmm has as many */
    MAX_SETTINGS = MAX_LAUNCH_DEVICES + 8,
    MAX_ITEMS = 128,
    MAX_PROBES = MAX_ITEMS * 18 + MAX_FITS + MAX_SETTINGS
}; /* items, shapes and maps have at most 9, 4 and 3 probes each */

/* Text of the source. */
typedef struct text_range {
    size_t begin, end;
} text_range_t;

typedef struct directive {
    directive_kind_t kind;
    pragma_t pragma;
    size_t name_begin, name_end; /* position of the directive's name */
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
    bool nowait, bounded, inferred;
    fits_t fits[MAX_FITS];
    int fits_count;
    size_t fits_begin; /* of the first such clause */
    expr_t *stream;    /* for a task: the name of its stream */

    /* ---- Set by bind.c ---- */
    probe_t *probe;
    int probe_count;
    size_t parsed_at;   /* where the probe begins in the parsed text */
    bool broken;        /* clang has reported an error in the pragma */
    bool bound;         /* the probe was found, so the pragma is not in a disabled region */
    CXCursor parent;    /* the cursor that contains the probe */
    CXCursor probed;    /* the statement that begins with the probe */
    CXCursor statement; /* what the pragma governs */
    /* For `task` and `data`: position of the statement with its semicolon. */
    size_t statement_begin, statement_end;
    CXCursor function; /* the function or function template around the statement */
    /* The outermost declaration around the statement that is not a namespace. It may be in a file
     * that includes the pragma's. */
    CXCursor top;
    /* The declaration around the function at the top level of the file, which may be a
     * namespace; null where the file is included within the function. */
    CXCursor outermost;
    CXCursor launch; /* the call that launches; null after an error */
    launch_form_t form;
    bool is_kernel; /* form is not LAUNCH_FUNCTION */
    /* True if the launch must name the clone: its kernel is a template and the launch gives the
     * arguments. */
    bool names_clone;
    /* The function or template that is called; null if there are several or none is known. */
    CXCursor callee;
    CXCursor definition; /* definition of the callee; null: there is none */
    CXType callee_type;  /* type of the callee, if clang knows it */
    /* Set by check.c: why the launch is one chunk on the current device; NULL: it is split. */
    const char *home;
    /* Set by check.c: variables that the kernel reads and other kernels change. */
    list_t shared_symbols;
    const char *callee_name; /* for messages: the kernel's name, or the expression in its place */
    target_kernel_t *target;
    int target_count;
    CXCursor *argument;
    int argument_count;
    int pack; /* the first argument that a parameter pack passes, which is the last one in the text;
                 PACK_NONE, PACK_OPEN */
    /* The texts of the first arguments, which a macro may write in part; as many as are written. */
    text_range_t *argument_text;
    int argument_text_count;
    /* Set by check_argument.c, one for each argument: the kernel does not use what the argument
     * points to. NULL: none is unused. */
    bool *unused;
    bool *refused; /* which arguments have no clause and need one; NULL: none */
    /* Set by check_argument.c: a plain function stores an address as an integer. */
    bool stores_numbers;
    bool is_compared; /* set by check.c: the code was compared with the clauses, without an error */
    bool is_doubted;  /* the same: a warning says that chunks may give something else */
    bool is_guessed;  /* the same, unless it is proven that they give the same */
    bool borrows;     /* the same: chunks read what ends with the call */
    /* Position of the statement that contains the launch, with its semicolon. */
    size_t launch_begin, launch_end;
    bool returns;               /* it is the operand of a `return`, and has no value */
    bool is_selected;           /* _Generic selects the function */
    size_t callee_begin;        /* position of the callee as written, with its qualifiers */
    size_t name_at, name_after; /* position of the callee's name without template arguments */
    size_t template_end;        /* behind the template arguments; name_after if there are none */
    /* Behind the parenthesis that opens the arguments; 0: a macro writes the launch. */
    size_t open;
    text_range_t configuration; /* between <<< and >>>; empty: a macro writes the launch */
    int order;                  /* index in the file, from 0 */
    bool in_template;           /* a template, or a generic lambda, is around the statement */

    /* ---- Set by instance.c and analyze/instances.c ---- */
    instance_t *instance;
    int instance_count, instance_capacity;
    instances_t instances;
    const char *instances_reason; /* why some may be missing */
    const char *instances_differ; /* how what is inferred of them differs; NULL: it does not */
    struct directive *pattern;    /* by instance.c: a copy, while d is bound to an instance */

    /* ---- Set by declare.c ---- */
    bool declares; /* for DIRECTIVE_DECLARE: a kernel follows */
    /* For DIRECTIVE_DECLARE: head of the function in which the declaration is checked; NULL:
     * none can be written. */
    const char *check_head;
    /* For a launch: the unit of the declaration that completed it, and that declaration's index
     * there; NULL: none did. */
    struct unit *declared_in;
    int declared_order;
    /* For a launch: why no clause is inferred for each parameter; an element is NULL if one is, or
     * if the code of the kernel does not say why. NULL: nothing was to be inferred. */
    const char **uninferred;
    /* For a launch: the parameters for which items were added to its text, in that order. */
    int *added;
    int added_count;
    const char *unsayable; /* why clauses cannot name an argument of the launch; NULL: they can */
    bool failed; /* check.c has reported an error in a declaration, or declare.c one in a launch */
} directive_t;

/* True if the directive governs no statement. */
static inline bool directive_stands_alone(const directive_t *d)
{
    return d->kind >= DIRECTIVE_WAIT;
}

#endif
