/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pragma says (parse.c fills it), what it governs (bind.c) and what follows from that
 * (check.c); clone.c and rewrite.c read it. Words are those of docs/language.md.
 */
#ifndef KMMCC_DIRECTIVE_H
#define KMMCC_DIRECTIVE_H

#include "kmm/launch.h"
#include "kmmcc.h"

/* ---- token.c ---- */
typedef enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHARACTER,
    TOKEN_PUNCTUATOR,
    TOKEN_DIRECTIVE /* a whole preprocessor line */
} token_kind_t;
typedef struct token {
    token_kind_t kind;
    size_t begin, end;
} token_t;
/* quoted: the text is that of a string literal, in which quotes are written \". */
typedef struct lexer {
    const source_t *s;
    size_t at, end;
    bool line_start, quoted;
} lexer_t;

lexer_t lexer_at(const source_t *s, size_t begin, size_t end);
token_t lex(lexer_t *l); /* comments, white space and line splices are skipped */
bool token_is(const source_t *s, token_t t, const char *text);
char *token_text(const source_t *s, token_t t);
/* The tokens of [begin, end) on one line, single spaces where there was anything between them. */
char *source_words(const source_t *s, size_t begin, size_t end);
unsigned source_line(const source_t *s, size_t offset);

/* ---- pragma.c ---- */
typedef struct pragma {
    size_t begin, end; /* from `#` or `_Pragma` to the end of its last line, less trailing space */
    size_t content;    /* what follows the word kmm */
    size_t content_end;
    bool is_operator; /* _Pragma("kmm ...") */
} pragma_t;
/* The next pragma at or after *from, which moves behind it. */
bool pragma_next(const source_t *s, size_t *from, pragma_t *out);

/* ---- macro.c: pragmas that macros write ---- */
/* Whether the file has a directive's words where a macro may make a pragma of them: in a
 * definition, or in an argument. */
bool macro_may_write_pragma(const source_t *s);
/* Replaces, in each file, the uses of macros that write our pragmas by what they stand for. */
void macro_expand(const includes_t *includes);
/* What `#include words` may include, words being no name in quotes: each "name" or <name> that some
 * definitions in the files or on the command line make of it. Returns how many; at most `room`. */
int macro_header_names(const includes_t *includes, const options_t *o, const char *words,
                       const char **out, int room);

/* ---- Expressions of clauses ---- */
typedef enum expr_kind {
    EXPR_NUMBER,
    EXPR_NAME,
    EXPR_UNARY,  /* op left */
    EXPR_BINARY, /* left op right */
    EXPR_CHOICE, /* left ? right : other */
    EXPR_CAST,   /* (type) left */
    EXPR_CALL,   /* left(right, right->next ...) */
    EXPR_OPAQUE /* member access, subscript, sizeof, string ...: text whose parts are left, right */
} expr_kind_t;

typedef struct expr expr_t;
struct expr {
    expr_kind_t kind;
    size_t begin, end;           /* in the source, parentheses included */
    size_t type_begin, type_end; /* EXPR_CAST: the type's text */
    const char *op;              /* of EXPR_UNARY and EXPR_BINARY; the name of EXPR_NAME */
    long long value;             /* EXPR_NUMBER when integral */
    bool integral;               /* EXPR_NUMBER: a decimal, hexadecimal, octal or binary integer */
    expr_t *left, *right, *other, *next;
    CXType type;     /* by bind.c, before conversions; CXType_Invalid where clang does not know */
    CXCursor cursor; /* by bind.c; null where clang does not know */
};

/* ---- form.c: integers in 64 bits, as C text ---- */

/* An integer that is known, or a C expression for it. */
typedef struct form {
    bool known;
    long long value;  /* when known */
    const char *text; /* when not known */
    int precedence;   /* of its outermost operator, as in expression.c; FORM_PRIMARY for a name */
    bool wide;        /* its type is a signed one of 64 bits */
    bool safe;        /* its type can be converted to that without loss */
} form_t;

form_t form_number(long long value);
form_t form_of(const source_t *s, const expr_t *e); /* of an expression without axes */
form_t form_add(form_t a, form_t b);
form_t form_subtract(form_t a, form_t b);
form_t form_multiply(form_t a, form_t b);
const char *form_text(form_t f);
bool form_is(form_t f, long long value);

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
bool directive_stands_alone(const directive_t *d); /* bind.c */

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

enum {
    MAX_ITEMS = 128,
    MAX_PROBES = MAX_ITEMS * 18
}; /* each item, shape and map has at most 9, 4 and 3 */

struct directive {
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
    token_t label;
    bool has_label;
    bool has_where, has_schedule, nowait;
    kmm_where_t where;
    expr_t *ordinal; /* KMM_ON_DEVICE */
    kmm_schedule_t schedule;
    expr_t *priority;
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
    unit_t *declared_in; /* of a launch: where the declaration is that completed it, and which one;
                            NULL: none did */
    int declared_order;
    bool failed; /* check.c has reported an error in a declaration, declare.c one of a launch */
};

/* ---- parse.c ---- */
/* NULL after errors. */
directive_t *parse_directive(const source_t *s, pragma_t pragma);
item_t *directive_add_item(directive_t *d); /* NULL: it has too many; moves those before it */
/* A string of the pragma as a literal of the program. */
const char *directive_string(const source_t *s, const directive_t *d, token_t string);
const char *nearest_name(const char *word, const char *const *names,
                         int count); /* NULL: none is near */

/* ---- clang.c ---- */
/* Bodies of functions in headers take most of the time and are seldom needed. */
typedef enum bodies { BODIES_OF_MAIN_FILE, BODIES_OF_ALL_FILES } bodies_t;
/* Parses the unit, each file as its `parsed` text; clang's errors are shown at their places in the
 * sources. False when some are not about pragmas: then nothing more can be said. */
bool clang_parse(unit_t *u, bodies_t bodies);
/* Whether the place of the parsed text is in a region that #if disables. */
bool clang_disabled(unit_t *u, size_t parsed);
bool clang_disabled_source(unit_t *u, size_t offset); /* the same for a place of the source */
/* Parses the result, text_of each file (NULL: it is unchanged); an error is a mistake of kmmcc and
 * is shown so. */
bool clang_verify(unit_t *u, const char *(*text_of)(unit_t *u));
char *clang_text(CXString string); /* copies and disposes */
bool clang_file_range(CXCursor c, CXFile *file, size_t *begin, size_t *end);

/* ---- cache.c: precompiled headers ---- */
/* The lines at the beginning of the file that include headers in angle brackets which are none of
 * the program's. */
const char *cache_leading(const unit_t *u);
/* The file in which clang finds these headers, read with these flags; it is made when it is new.
 * NULL: there is none. */
const char *cache_headers(const char *headers, const char *const *flags, int count,
                          bool skips_bodies);
void cache_forget(const char *path);

/* ---- bind.c ---- */
void bind_probes(unit_t *u); /* makes u->parsed */
void bind_directives(unit_t *u);
/* The function, template or set of overloads that a member of such a set is, also behind a
 * using-declaration. */
CXCursor bind_used(CXCursor f);
/* Whether the function or function template is a kernel. */
bool bind_is_kernel(CXCursor f);
/* Whether the call is `k<<<...>>>(...)`. */
bool bind_is_launch(CXCursor call);

/* ---- declare.c ---- */
/* Adds to the pragmas of launches what `declare kernel` says; true if the units have to be parsed
 * and bound again: then the messages from `first` on are taken back. */
bool declare_complete(unit_t *u, int first);
directive_t *directive_declared(
    const directive_t *d); /* the declaration that completed the launch; NULL: none did */

/* ---- transform.c ---- */
void parse_pragmas(unit_t *u);

/* ---- check.c ---- */
void check_directives(unit_t *u); /* of all files of the translation unit */
/* The variable with which a path or an address begins: p of p + k, of &p[k] and of p.member; null
 * when there is none. */
CXCursor check_root(CXCursor e);

/* ---- reduce.c ---- */
/* Fills item->reduced from the type of its base; says what cannot be reduced. */
void reduce_check(unit_t *u, item_t *item, CXType base);
/* ---- reach.c: what kernels and the functions that they call read of the grid ---- */
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

/*
 * A function that depends on the part of the grid that runs is copied, and the copy is told the
 * part by a parameter: it is `told`. One that is reached other than by its name looks the part up
 * in shared memory, where every kernel of the translation unit leaves it: it is `shared`. A
 * function may be both.
 */
struct function {
    function_t *next;
    CXCursor cursor; /* its definition */
    unit_t *u;       /* the file it is in; NULL when a macro writes it */
    size_t begin, end;
    const char *name;
    bool is_kernel, reads_index, reads_dim, reads_group; /* by itself */
    bool hidden;          /* reads some of it where #if hides it from clang */
    bool is_hidden_group; /* a macro names the grid's group */
    bool is_cluster, syncs_grid;
    bool is_open;    /* it names functions that only template arguments resolve */
    bool is_reached; /* by a kernel */
    bool is_told, is_shared, is_copied;
    bool holds_lambdas; /* runs on the host */
    reach_call_t *calls;
    lambda_t *lambdas;
    change_t *changes; /* in a copy */
};

/* The kernel and what it reaches are added to u->functions. */
function_t *reach_kernel(unit_t *u, CXCursor definition);
/* After all kernels: says of each function whether it is told or shared. */
void reach_close(unit_t *u);
bool reach_is_told(const function_t *f);
/* Behind the parenthesis that opens the arguments of a call; 0: it is no call. */
size_t reach_open(const source_t *s, const reach_call_t *call);

/* ---- explain.c ---- */
void explain_directives(const unit_t *u); /* on stdout */

/* ---- uses.c ---- */
/* Where a function's code stores to what a parameter points to, stores depending on what was there,
 * lets the pointer go where it is not followed, and uses what an atomic addition to it returns;
 * null: nowhere. */
typedef struct uses {
    CXCursor stored, updated, escaped, result;
} uses_t;
bool uses_find(CXCursor definition, CXCursor parameter,
               uses_t *out); /* false: the code is not seen */
/* Whether a value of the type is a pointer to data, or has one among its fields and elements. */
bool uses_holds_pointers(CXType type);

/* ---- hazard.c ---- */
/* Where a kernel, or a function that it calls, waits in an idle loop for what others store,
 * launches kernels, reads or writes a texture or surface, changes a __device__ variable, and steps
 * by the size of the grid; null: nowhere. */
typedef struct hazards {
    CXCursor wait, launch, texture, symbol, stride, elsewhere;
    const char *texture_name, *symbol_name, *elsewhere_name;
} hazards_t;
hazards_t hazards_of(CXCursor kernel);
/* Whether functions that another file defines keep the kernel from being cloned: what they read of
 * the grid is not known. */
bool hazard_calls_elsewhere(const unit_t *u, const hazards_t *h);
/* The __device__ variables that the kernel uses and other kernels of the translation unit change.
 */
void hazard_shared_symbols(const unit_t *u, CXCursor kernel, list_t *names);

/* ---- clone.c ---- */
void clone_kernels(unit_t *u);
/* Whether the kernels can be cloned. */
void clone_check(unit_t *u);
/* The edits that make a launch that names its clone one of the clone. */
void clone_launch(unit_t *u, const directive_t *d);
/* The statement that a launch needs whose kernels are instances of templates and which does not
 * name the clone. Empty for others. */
const char *clone_registration(const unit_t *u, const directive_t *d);
/* Whether a kernel that is to be cloned, or a function it calls, is in a header of the program. */
bool clone_needs_headers(unit_t *u);
/* Where the declaration at `offset` begins: behind the end of the one before it and its comments.
 */
size_t clone_begin(const source_t *s, size_t offset);

/* ---- describe.c: the calls that describe a launch ---- */
void describe_launch(const unit_t *u, const directive_t *d, const char *indent, text_t *out);
const char *describe_base(const unit_t *u, const expr_t *base); /* as an operand of any operator */
/* How far the first element of the item moves along an axis, in arrays of its last `inner`
 * dimensions. False when that is no whole number of them. */
bool describe_step(const unit_t *u, const item_t *item, int axis, int inner, form_t *step);

/* ---- rewrite.c ---- */
void rewrite_directives(unit_t *u);
/* After all other edits: kmm's header, where something needs it. */
void rewrite_include(unit_t *u);

/* ---- call.c: calls of plain functions ---- */
/* A declaration of the type: the name stands before the end of that of a pointer to a function or
 * an array. */
const char *declaration_of(const char *type, const char *name);
void call_rewrite(unit_t *u, directive_t *d, const char *indent);

/* ---- emit.c ---- */
char *emit_text(unit_t *u);                        /* NULL after errors */
char *emit_quoted(const char *text);               /* as a C string literal */
char *emit_line(const source_t *s, unsigned line); /* #line, without a newline */

#endif
