/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA as C++ for the CPU. Launches and declarations of shared memory are found by their tokens,
 * which works in macros and templates alike; kernels are found by clang.
 * include/kmm/host/kmm_launch.h shows what a kernel and a launch become.
 */
#include "cpu/host.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <kmm/host/kmm_flags.h>

#include "analyze/uses.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/disabled.h"
#include "cpu/split.h"

/* ---- Tokens of a file ---- */

typedef struct tokens {
    token_t *at;
    int count, capacity;
} tokens_t;

static void tokens_add(tokens_t *list, token_t t)
{
    list->at = arena_grow(list->at, list->count, &list->capacity, sizeof(*list->at));
    list->at[list->count++] = t;
}

/* The tokens of [begin, end), those of #define lines too; other preprocessor lines are one token.
 */
static void tokens_read(const source_t *s, size_t begin, size_t end, tokens_t *out)
{
    lexer_t l = lexer_at(s, begin, end);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE) {
            tokens_add(out, t);
            continue;
        }
        lexer_t inner = lexer_at(s, t.begin, t.end);
        inner.line_start = false;
        lex(&inner);
        tokens_t line = {0};
        token_t word = lex(&inner);
        for (token_t i = word; token_is(s, word, "define") && i.kind != TOKEN_END;
             inner.line_start = false, i = lex(&inner))
            tokens_add(&line, i);
        for (int k = 1; k < line.count; k++)
            tokens_add(out, line.at[k]);
    }
}

static bool tokens_is(const source_t *s, const tokens_t *list, int k, const char *text)
{
    return k >= 0 && k < list->count && token_is(s, list->at[k], text);
}

/* ---- The call graph ---- */

static bool list_has(const list_t *l, const char *word)
{
    for (int k = 0; k < l->count; k++)
        if (!strcmp(l->item[k], word))
            return true;
    return false;
}

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

static void definition_read(definition_t *b, const source_t *s, size_t begin, size_t end)
{
    lexer_t l = lexer_at(s, begin, end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        const char *word = t.kind == TOKEN_NAME ? token_text(s, t) : NULL;
        if (word && !list_has(&b->names, word))
            list_add(&b->names, word);
    }
}

static definition_t *definition_add(program_t *h, const char *name)
{
    h->definitions = arena_grow(h->definitions, h->definition_count, &h->definition_capacity,
                                sizeof(*h->definitions));
    definition_t *b = arena_alloc(sizeof(*b));
    b->name = name;
    h->definitions[h->definition_count++] = b;
    return b;
}

/* All names of functions and macros that use, themselves or through others, one of `words`. Names
 * are enough: what overloads share is assumed of all of them. */
static list_t callgraph_reaching(const program_t *h, list_t names, bool kernels_too)
{
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < h->definition_count; k++) {
            const definition_t *b = h->definitions[k];
            if ((b->is_kernel && !kernels_too) || list_has(&names, b->name))
                continue;
            for (int i = 0; i < b->names.count; i++)
                if (list_has(&names, b->names.item[i])) {
                    list_add(&names, b->name);
                    grown = true;
                    break;
                }
        }
    }
    return names;
}

static bool definition_uses(const definition_t *b, const list_t *names)
{
    for (int k = 0; k < b->names.count; k++)
        if (list_has(names, b->names.item[k]))
            return true;
    return false;
}

static void list_add_all(list_t *l, const char *const *names)
{
    for (; *names; names++)
        list_add(l, *names);
}

/* ---- What is in the program ---- */

static bool program_is_function(enum CXCursorKind k)
{
    return k == CXCursor_FunctionDecl || k == CXCursor_FunctionTemplate ||
           k == CXCursor_CXXMethod || k == CXCursor_Constructor || k == CXCursor_Destructor ||
           k == CXCursor_ConversionFunction;
}

static bool is_kernel(CXCursor c)
{
    return cursor_has_child(c, CXCursor_CUDAGlobalAttr);
}

/* Whether a kernel that does not have the name of this function cannot call it. A function of the
 * CPU that names one of the device may hand it to a kernel as a template argument. */
static bool is_called_by_name(CXCursor c, const definition_t *b)
{
    const char *name = b->name;
    enum CXCursorKind kind = clang_getCursorKind(c);
    return b->is_device &&
           (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate ||
            kind == CXCursor_CXXMethod) &&
           strncmp(name, "operator", 8);
}

static void add_kernel(program_t *h, CXCursor c, definition_t *b)
{
    size_t begin, end;
    const char *name = clang_text(clang_getCursorSpelling(c));
    unit_t *u = unit_holding(h->u, c);
    b->is_kernel = true;
    if (!u || !unit_range(u, c, &begin, &end)) {
        diag_plain(SEVERITY_ERROR,
                   "kernel '%s' is defined in a system header or by a macro; on the CPU target "
                   "kernels must be written out in "
                   "the program: '%s'",
                   name, h->u->source->path);
        return;
    }
    h->kernels = arena_grow(h->kernels, h->kernel_count, &h->kernel_capacity, sizeof(*h->kernels));
    h->kernels[h->kernel_count++] =
        (kernel_t){.cursor = c, .u = u, .begin = begin, .end = end, .definition = b};
}

static void add_callee(program_t *h, callee_t callee)
{
    h->callees = arena_grow(h->callees, h->callee_count, &h->callee_capacity, sizeof(*h->callees));
    h->callees[h->callee_count++] = callee;
}

typedef struct assembly {
    unit_t *u;
    size_t begin, end;
    bool found;
} assembly_t;

static enum CXChildVisitResult find_assembly(CXCursor c, CXCursor parent, CXClientData data)
{
    assembly_t *a = data;
    size_t begin, end;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_GCCAsmStmt || !unit_range(a->u, c, &begin, &end))
        return CXChildVisit_Recurse;
    const char *text = strchr(arena_copy(a->u->source->text + begin, end - begin), '"');
    if (text && text[1] == '"') /* a barrier for the compiler */
        return CXChildVisit_Recurse;
    a->begin = begin;
    a->end = begin + strcspn(a->u->source->text + begin, "\n");
    a->found = true;
    return CXChildVisit_Break;
}

/* Assembly in functions of the device is PTX. */
static void ptx_find(unit_t *u, CXCursor c, definition_t *b)
{
    assembly_t a = {.u = u};
    if (!list_has(&b->names, "asm") && !list_has(&b->names, "__asm__") &&
        !list_has(&b->names, "__asm"))
        return;
    if (is_kernel(c) || cursor_has_child(c, CXCursor_CUDADeviceAttr))
        clang_visitChildren(c, find_assembly, &a);
    if (a.found) {
        b->ptx = u;
        b->ptx_begin = a.begin;
        b->ptx_end = a.end;
    }
}

static void add_function(program_t *h, CXCursor c)
{
    size_t begin, end;
    definition_t *b = definition_add(h, clang_text(clang_getCursorSpelling(c)));
    unit_t *u = unit_holding(h->u, c);
    b->is_device = cursor_has_child(c, CXCursor_CUDADeviceAttr);
    b->is_called_by_name = is_called_by_name(c, b);
    bool is_read = u && unit_range(u, c, &begin, &end);
    if (is_read) {
        definition_read(b, u->source, begin, end);
        ptx_find(u, c, b);
    }
    if (is_kernel(c))
        add_kernel(h, c, b);
    else if (b->is_called_by_name)
        add_callee(h, (callee_t){c, is_read ? u : NULL, is_read ? begin : 0, is_read ? end : 0, b});
}

/* ---- Pointers that kernels find in memory ---- */

/* depends: that is known where the template is used. */
typedef struct nested {
    CXType seen[32];
    int count;
    bool found, depends;
} nested_t;

static void find_nested(nested_t *n, CXType type);

static enum CXVisitorResult find_nested_field(CXCursor field, CXClientData data)
{
    find_nested(data, clang_getCursorType(field));
    return CXVisit_Continue;
}

/* Whether something that the type points to holds pointers itself. */
static void find_nested(nested_t *n, CXType type)
{
    type = clang_getCanonicalType(type);
    for (int k = 0; k < n->count; k++)
        if (clang_equalTypes(n->seen[k], type))
            return;
    if (n->count == (int)(sizeof(n->seen) / sizeof(*n->seen)))
        return;
    n->seen[n->count++] = type;
    n->depends |= strstr(clang_text(clang_getTypeSpelling(type)), "type-parameter-") != NULL;
    if (type.kind == CXType_Pointer)
        n->found |= uses_holds_pointers(clang_getPointeeType(type));
    else if (type.kind == CXType_Record)
        clang_Type_visitFields(type, find_nested_field, n);
}

static enum CXChildVisitResult find_nested_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_ParmDecl)
        find_nested(data, clang_getCursorType(c));
    return CXChildVisit_Continue;
}

static nested_t nested_pointers_of(CXCursor kernel)
{
    nested_t n = {.count = 0};
    clang_visitChildren(kernel, find_nested_parameter, &n);
    return n;
}

static void add_constant(program_t *h, CXCursor c)
{
    if (cursor_has_child(c, CXCursor_CUDAConstantAttr) &&
        uses_holds_pointers(clang_getCursorType(c)))
        list_add(&h->pointing, clang_text(clang_getCursorSpelling(c)));
}

static void add_declared(program_t *h, CXCursor c)
{
    if (cursor_has_child(c, CXCursor_CUDADeviceAttr))
        list_add(&h->elsewhere, clang_text(clang_getCursorSpelling(c)));
}

static enum CXChildVisitResult find_functions(CXCursor c, CXCursor parent, CXClientData data)
{
    program_t *h = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    if (program_is_function(kind) && clang_isCursorDefinition(c))
        add_function(h, c);
    else if (program_is_function(kind) && !is_kernel(c) &&
             clang_Cursor_isNull(clang_getCursorDefinition(c)))
        add_declared(h, c);
    else if (kind == CXCursor_VarDecl)
        add_constant(h, c);
    return program_is_function(kind) ? CXChildVisit_Continue : CXChildVisit_Recurse;
}

/* Macros are bodies whose names are theirs. */
static void find_macros(program_t *h, const source_t *s)
{
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        lexer_t inner = lexer_at(s, t.begin, t.end);
        inner.line_start = false;
        lex(&inner);
        token_t word = lex(&inner), name = lex(&inner);
        if (token_is(s, word, "define") && name.kind == TOKEN_NAME) {
            definition_t *macro = definition_add(h, token_text(s, name));
            macro->is_called_by_name = macro->is_macro = true;
            definition_read(macro, s, name.end, t.end);
        }
    }
}

/* Each header of the program becomes a unit. */
static void find_header(CXFile file, CXSourceLocation *stack, unsigned count, CXClientData data)
{
    program_t *h = data;
    (void)stack;
    if (count > 0)
        unit_of_file(h->u, file);
}

/* `__device__ int count;` and `__managed__`: the name before the first `=`, `[`, `;` or `,`. */
static void find_globals(program_t *h, const source_t *s, const tokens_t *list)
{
    for (int k = 0; k < list->count; k++) {
        if (!tokens_is(s, list, k, "__device__") && !tokens_is(s, list, k, "__managed__"))
            continue;
        int name = -1;
        for (int i = k + 1; i < list->count; i++) {
            if (tokens_is(s, list, i, "(") || tokens_is(s, list, i, "{") ||
                tokens_is(s, list, i, "operator") || tokens_is(s, list, i, "constexpr"))
                break;
            if (tokens_is(s, list, i, ";") || tokens_is(s, list, i, "=") ||
                tokens_is(s, list, i, "[") || tokens_is(s, list, i, ",")) {
                if (name >= 0)
                    list_add(&h->globals, token_text(s, list->at[name]));
                break;
            }
            name = list->at[i].kind == TOKEN_NAME ? i : name;
        }
    }
}

/* ---- Which kernels need what ---- */

static const char *const builtin_collectives[] = {"__syncthreads",
                                                  "__syncthreads_and",
                                                  "__syncthreads_or",
                                                  "__syncthreads_count",
                                                  "__syncwarp",
                                                  "__shfl_sync",
                                                  "__shfl_up_sync",
                                                  "__shfl_down_sync",
                                                  "__shfl_xor_sync",
                                                  "__ballot_sync",
                                                  "__any_sync",
                                                  "__all_sync",
                                                  "__match_any_sync",
                                                  "__match_all_sync",
                                                  "__activemask",
                                                  "__reduce_add_sync",
                                                  "__reduce_min_sync",
                                                  "__reduce_max_sync",
                                                  "__reduce_and_sync",
                                                  "__reduce_or_sync",
                                                  "__reduce_xor_sync",
                                                  "__nanosleep",
                                                  "__shfl",
                                                  "__shfl_up",
                                                  "__shfl_down",
                                                  "__shfl_xor",
                                                  "__ballot",
                                                  "__any",
                                                  "__all",
                                                  NULL};
static const char *const index_variables[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};
/* Of cooperative groups: what meets, and what reads the index variables besides. */
static const char *const group_collectives[] = {"sync",
                                                "shfl",
                                                "shfl_up",
                                                "shfl_down",
                                                "shfl_xor",
                                                "any",
                                                "all",
                                                "ballot",
                                                "match_any",
                                                "match_all",
                                                "reduce",
                                                "inclusive_scan",
                                                "exclusive_scan",
                                                "labeled_partition",
                                                "binary_partition",
                                                "barrier_wait",
                                                "wait",
                                                "wait_prior",
                                                NULL};
static const char *const group_names[] = {"this_thread_block",
                                          "tiled_partition",
                                          "coalesced_threads",
                                          "this_grid",
                                          "thread_block",
                                          "thread_group",
                                          "thread_block_tile",
                                          "thread_rank",
                                          "grid_group",
                                          "meta_group_rank",
                                          "memcpy_async",
                                          "invoke_one",
                                          NULL};

static bool callgraph_has_callee(const program_t *h, const char *name)
{
    for (int k = 0; k < h->callee_count; k++)
        if (!strcmp(h->callees[k].definition->name, name))
            return true;
    return false;
}

/* Functions in which `__device__` is written, as of a lambda, itself or by a macro. */
static void find_device_code(program_t *h)
{
    list_t device = {0};
    list_add(&device, "__device__");
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < h->definition_count; k++)
            if (h->definitions[k]->is_macro && !list_has(&device, h->definitions[k]->name) &&
                definition_uses(h->definitions[k], &device)) {
                list_add(&device, h->definitions[k]->name);
                grown = true;
            }
    }
    for (int k = 0; k < h->definition_count; k++)
        h->definitions[k]->is_device |= definition_uses(h->definitions[k], &device);
}

/* Whether kernels may reach, without its name, what has one of `words` or directly of `list`: as an
 * operator, a constructor, a destructor or a lambda, or a template argument that a function of the
 * CPU gives. Its own variables, and functions of the CPU that it calls, may have such names too. */
static bool is_hidden_in(const program_t *h, const definition_t *b, const list_t *names,
                         const char *const *list)
{
    if (b->is_kernel || b->is_called_by_name)
        return false;
    for (int k = 0; k < b->names.count; k++) {
        const char *name = b->names.item[k];
        if (text_is_one_of(name, list))
            return true;
        if (strcmp(name, b->name) && list_has(names, name) &&
            (b->is_device || callgraph_has_callee(h, name)))
            return true;
    }
    return false;
}

/* What no kernel calls may stay. */
static void ptx_refuse(const program_t *h)
{
    list_t direct = {0};
    for (int k = 0; k < h->definition_count; k++)
        if (h->definitions[k]->ptx)
            list_add(&direct, h->definitions[k]->name);
    if (!direct.count)
        return;
    list_t reached = {0}; /* from kernels */
    for (int k = 0; k < h->kernel_count; k++)
        list_add(&reached, h->kernels[k].definition->name);
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < h->definition_count; k++)
            for (int i = 0;
                 list_has(&reached, h->definitions[k]->name) && i < h->definitions[k]->names.count;
                 i++)
                if (!list_has(&reached, h->definitions[k]->names.item[i])) {
                    list_add(&reached, h->definitions[k]->names.item[i]);
                    grown = true;
                }
    }
    for (int k = 0; k < h->definition_count; k++) {
        const definition_t *b = h->definitions[k];
        if (b->ptx && list_has(&reached, b->name))
            diag_at(SEVERITY_ERROR, b->ptx->source, b->ptx_begin, b->ptx_end,
                    "assembly for GPUs is missing on the CPU target");
    }
}

/* Functions that reach a barrier, a warp operation or an operation of a cooperative group. */
static void find_barriers(program_t *h)
{
    list_t collectives = {0};
    list_add_all(&collectives, builtin_collectives);
    if (h->has_groups)
        list_add_all(&collectives, group_collectives);
    h->barriers = callgraph_reaching(h, collectives, false);
}

/* Functions that read the index variables. A kernel may do so itself, since they are its
 * parameters; it may not use cooperative groups, which read them as well. */
static void find_indexed(program_t *h)
{
    list_t direct = {0}, indexed = {0};
    list_add_all(&direct, index_variables);
    const int own = direct.count;
    for (int k = 0; k < h->elsewhere.count; k++)
        list_add(&direct, h->elsewhere.item[k]);
    direct = callgraph_reaching(h, direct, false);
    for (int k = own; k < direct.count; k++)
        list_add(&indexed, direct.item[k]);
    if (h->has_groups) {
        list_add_all(&indexed, group_names);
        list_add_all(&indexed, group_collectives);
        indexed = callgraph_reaching(h, indexed, false);
    }
    h->indexed = indexed;
}

/* Sets h->hidden; whether one that reads the index variables is hidden, too. */
static bool find_hidden(program_t *h)
{
    bool hidden_index = false;
    find_device_code(h);
    for (int k = 0; k < h->definition_count; k++) {
        const definition_t *b = h->definitions[k];
        if (!h->hidden && is_hidden_in(h, b, &h->barriers, builtin_collectives))
            h->hidden = b;
        hidden_index |= is_hidden_in(h, b, &h->indexed, index_variables);
    }
    return hidden_index;
}

static void requirements_find(program_t *h)
{
    for (const unit_t *k = h->u; k; k = k->next)
        h->has_groups |= strstr(k->source->text, "cooperative_groups") != NULL;
    const list_t globals = callgraph_reaching(h, h->globals, false),
                 pointing = callgraph_reaching(h, h->pointing, false);
    find_barriers(h);
    find_indexed(h);
    const bool hidden_index = find_hidden(h);
    for (int k = 0; k < h->kernel_count; k++) {
        kernel_t *kernel = &h->kernels[k];
        const definition_t *d = kernel->definition;
        const nested_t nested = nested_pointers_of(kernel->cursor);
        if (h->hidden || definition_uses(d, &h->barriers))
            kernel->flags |= KMM_HOST_SYNC;
        if (hidden_index || definition_uses(d, &h->indexed))
            kernel->flags |= KMM_HOST_HELPERS;
        if (definition_uses(d, &globals))
            kernel->flags |= KMM_HOST_GLOBALS;
        if (nested.found || definition_uses(d, &pointing))
            kernel->flags |= KMM_HOST_POINTERS;
        else if (nested.depends)
            kernel->flags |= KMM_HOST_GENERIC;
    }
}

/* ---- Kernels ---- */

/* The flags as C++, in the order in which tests and people know them. */
static const char *flags_text(int flags)
{
#define FLAG(name)                                                                                 \
    {                                                                                              \
        name, #name                                                                                \
    }
    static const struct {
        int flag;
        const char *name;
    } names[] = {FLAG(KMM_HOST_SYNC),    FLAG(KMM_HOST_BLOCK),    FLAG(KMM_HOST_SIZED),
                 FLAG(KMM_HOST_STATES),  FLAG(KMM_HOST_WIDE),     FLAG(KMM_HOST_HELPERS),
                 FLAG(KMM_HOST_GLOBALS), FLAG(KMM_HOST_POINTERS), FLAG(KMM_HOST_GENERIC)};
#undef FLAG
    const char *text = "";
    if (flags & KMM_HOST_BLOCK)
        flags &= ~KMM_HOST_SYNC; /* its barriers are gone */
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (flags & names[k].flag)
            text = arena_printf("%s%s%s", text, *text ? " | " : "", names[k].name);
    return *text ? text : "KMM_HOST_PLAIN";
}

typedef struct parameters {
    CXCursor at[256];
    int count;
    CXCursor body;
} parameters_t;

static enum CXChildVisitResult find_parameters(CXCursor c, CXCursor parent, CXClientData data)
{
    parameters_t *p = data;
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_ParmDecl && p->count < 256)
        p->at[p->count++] = c;
    else if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
        p->body = c;
    return CXChildVisit_Continue;
}

/* The place of the `(` that opens the parameters, and behind the `)` that closes them. */
static bool parameters_are_written(const unit_t *u, const kernel_t *k, const parameters_t *p,
                                   size_t *open, size_t *close)
{
    const source_t *s = u->source;
    unsigned offset;
    clang_getFileLocation(clang_getCursorLocation(k->cursor), NULL, NULL, NULL, &offset);
    lexer_t l = lexer_at(s, unit_offset(u, offset), k->end);
    l.line_start = false;
    token_t t = lex(&l);
    (void)p;
    for (int angle = 0; t.kind != TOKEN_END && !(angle == 0 && token_is(s, t, "(")); t = lex(&l))
        angle += token_is(s, t, "<") - token_is(s, t, ">");
    *open = t.begin;
    for (int depth = 0; t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (depth == 0)
            break;
    }
    *close = t.end;
    return t.kind != TOKEN_END;
}

/* The parameters without their default arguments, which stay with the kernel itself. Unnamed ones
 * get names in both. */
static const char *parameters_text(unit_t *u, const parameters_t *p, text_t *names)
{
    const source_t *s = u->source;
    text_t out = {0};
    text_add(&out, "", 0);
    size_t last = SIZE_MAX;
    for (int k = 0; k < p->count; k++) {
        size_t begin, end;
        if (!unit_range(u, p->at[k], &begin, &end))
            return NULL;
        bool again = begin == last; /* a macro writes several */
        last = begin;
        const char *name = clang_text(clang_getCursorSpelling(p->at[k]));
        lexer_t l = lexer_at(s, begin, end);
        l.line_start = false;
        size_t stop = end;
        int depth = 0;
        bool pack = false;
        for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
            depth += token_is(s, t, "(") - token_is(s, t, ")");
            pack |= token_is(s, t, "...");
            if (depth == 0 && token_is(s, t, "=")) {
                stop = t.begin;
                break;
            }
        }
        if (!*name) {
            name = arena_printf("kmm_unnamed_%d", k);
            const char *type = arena_copy(s->text + begin, stop - begin);
            if (strpbrk(type, "([")) { /* the name would stand within */
                type =
                    arena_printf("kmm_host_as<%s>",
                                 clang_text(clang_getTypeSpelling(clang_getCursorType(p->at[k]))));
                unit_edit(u, begin, stop, arena_printf("%s %s", type, name));
            } else {
                unit_edit(u, stop, stop, arena_printf(" %s", name));
            }
            text_printf(&out, ", %s %s __attribute__((unused))", type, name);
        } else if (!again) {
            text_printf(&out, ", %s", source_words(s, begin, stop));
        }
        text_printf(names, "%s%s%s", k ? ", " : "", name, pack ? "..." : "");
    }
    return out.data;
}

/* ---- Lambdas in kernels ---- */

/* The index variables are parameters there, which a lambda has to capture. */
typedef struct captured {
    const char *name[4];
    int count;
} captured_t;

static enum CXChildVisitResult find_captured(CXCursor c, CXCursor parent, CXClientData data)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    captured_t *list = data;
    (void)parent;
    const char *name = clang_getCursorKind(c) == CXCursor_DeclRefExpr
                           ? clang_text(clang_getCursorSpelling(c))
                           : "";
    for (int k = 0; k < 4; k++) {
        bool known = strcmp(name, names[k]) != 0;
        for (int i = 0; i < list->count; i++)
            known |= list->name[i] == names[k];
        if (!known)
            list->name[list->count++] = names[k];
    }
    return CXChildVisit_Recurse;
}

typedef struct captures {
    unit_t *u;
    bool edits;
    int count;
} captures_t;

/* Counts the lambdas that name what they capture and use an index variable; adds it to what they
 * capture. */
static enum CXChildVisitResult index_capture_edit(CXCursor c, CXCursor parent, CXClientData data)
{
    captures_t *captures = data;
    unit_t *u = captures->u;
    captured_t list = {.count = 0};
    size_t begin, end;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_LambdaExpr || !unit_range(u, c, &begin, &end))
        return CXChildVisit_Recurse;
    lexer_t l = lexer_at(u->source, begin, end);
    l.line_start = false;
    token_t open = lex(&l), first = lex(&l), second = lex(&l);
    bool by_default = (token_is(u->source, first, "=") || token_is(u->source, first, "&")) &&
                      (token_is(u->source, second, ",") || token_is(u->source, second, "]"));
    clang_visitChildren(c, find_captured, &list);
    text_t names = {0};
    for (int k = 0; k < list.count && !by_default; k++)
        text_printf(&names, "%s%s", k ? ", " : "", list.name[k]);
    captures->count += names.length > 0;
    if (names.length && captures->edits)
        unit_edit(u, open.end, open.end,
                  arena_printf("%s%s", names.data, token_is(u->source, first, "]") ? "" : ", "));
    return CXChildVisit_Recurse;
}

/* ---- Classes in kernels ---- */

/* Their functions cannot see the kernel's parameters that the index variables are, but those of all
 * functions. */
typedef struct locals {
    unit_t *u;
    bool edits;
    int depth, count;
} locals_t;

static enum CXChildVisitResult index_qualify(CXCursor c, CXCursor parent, CXClientData data)
{
    locals_t *locals = data;
    const enum CXCursorKind kind = clang_getCursorKind(c);
    const bool is_class = kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl;
    size_t begin, end;
    (void)parent;
    if (is_class) {
        locals->depth++;
        clang_visitChildren(c, index_qualify, locals);
        locals->depth--;
        return CXChildVisit_Continue;
    }
    if (locals->depth && kind == CXCursor_DeclRefExpr &&
        text_is_one_of(clang_text(clang_getCursorSpelling(c)), index_variables) &&
        unit_range(locals->u, c, &begin, &end)) {
        locals->count++;
        if (locals->edits)
            unit_edit(locals->u, begin, begin, "::");
    }
    return CXChildVisit_Recurse;
}

/* ---- What meets ---- */

static collective_t callee_collective_of(const void *context, const char *name)
{
    const program_t *h = context;
    if (!list_has(&h->barriers, name))
        return COLLECTIVE_NONE;
    if (text_is_one_of(name, builtin_collectives))
        return COLLECTIVE_BUILTIN;
    if (list_has(&h->fibers, name))
        return COLLECTIVE_FIBERS;
    return callgraph_has_callee(h, name) ? COLLECTIVE_FUNCTION : COLLECTIVE_LIBRARY;
}

static split_t split_of_callee(const program_t *h, const callee_t *c)
{
    return (split_t){.u = c->u,
                     .function = c->cursor,
                     .flags = definition_uses(c->definition, &h->indexed) ? KMM_HOST_HELPERS : 0,
                     .keeps_edits = true,
                     .collective_of = callee_collective_of,
                     .context = h};
}

/* One that cannot be split makes those that call it fibers too. */
static void callees_find_fibers(program_t *h)
{
    const char *reason;
    size_t at;
    for (bool grown = true; grown;) {
        grown = false;
        for (int k = 0; k < h->callee_count; k++) {
            const callee_t *c = &h->callees[k];
            if (!list_has(&h->barriers, c->definition->name) ||
                list_has(&h->fibers, c->definition->name))
                continue;
            captures_t captures = {c->u, false, 0};
            split_t split = split_of_callee(h, c);
            if (c->u)
                clang_visitChildren(c->cursor, index_capture_edit, &captures);
            if (c->u && !captures.count && callee_edit(&split, true, &reason, &at))
                continue;
            if (c->u && !captures.count && h->u->options->verbose)
                diag_at(SEVERITY_NOTE, c->u->source, at ? at : c->begin, at ? at : c->begin,
                        "function '%s' is not split: %s", c->definition->name, reason);
            list_add(&h->fibers, c->definition->name);
            grown = true;
        }
    }
}

static void callees_edit(const program_t *h)
{
    const char *reason;
    size_t at;
    for (int k = 0; k < h->callee_count; k++) {
        const callee_t *c = &h->callees[k];
        split_t split = split_of_callee(h, c);
        if (list_has(&h->barriers, c->definition->name) &&
            !list_has(&h->fibers, c->definition->name))
            callee_edit(&split, false, &reason, &at);
    }
}

/* Where an `alignas(...)` ends that begins with the token, which a declaration must begin with; 0:
 * it is something else. */
static size_t behind_alignas(const source_t *s, lexer_t l, token_t t)
{
    int depth = 0;
    if (!token_is(s, t, "alignas"))
        return 0;
    for (t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (depth == 0)
            return t.end;
    }
    return 0;
}

/* Shared memory of a kernel whose threads are fibers; what is declared `extern` has been edited. */
static void shared_edit_fibers(unit_t *u, size_t begin, size_t end)
{
    const source_t *s = u->source;
    lexer_t l = lexer_at(s, begin, end);
    bool external = false;
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (token_is(s, t, ";") || token_is(s, t, "{") || token_is(s, t, "}"))
            external = false;
        external |= token_is(s, t, "extern");
        lexer_t ahead = l, next = l;
        for (token_t n = t;
             token_is(s, t, "__shared__") && n.kind != TOKEN_END && !token_is(s, n, ";");
             n = lex(&ahead))
            external |= token_is(s, n, "extern");
        if (!token_is(s, t, "__shared__") || external)
            continue;
        const token_t following = lex(&next);
        const size_t behind = behind_alignas(s, next, following);
        unit_edit(u, t.begin, t.end, behind ? "" : "KMM_HOST_FIBER_SHARED");
        if (behind)
            unit_edit(u, behind, behind, " KMM_HOST_FIBER_SHARED");
    }
}

/* The first argument of __launch_bounds__ in front of a kernel's body; 0: it has none. */
static const char *bound_text(const unit_t *u, size_t begin, size_t body)
{
    const source_t *s = u->source;
    lexer_t l = lexer_at(s, begin, body);
    l.line_start = false;
    token_t t = lex(&l);
    while (t.kind != TOKEN_END && !token_is(s, t, "__launch_bounds__"))
        t = lex(&l);
    token_t open = t.kind == TOKEN_END ? t : lex(&l);
    if (open.kind == TOKEN_END || !token_is(s, open, "("))
        return "0";
    int depth = 1;
    for (t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        if (depth == 0 || (depth == 1 && token_is(s, t, ",")))
            return arena_copy(s->text + open.end, t.begin - open.end);
    }
    return "0";
}

/* The functions of the device that one reaches by names, and macros between. */
static void callgraph_add_reached(const program_t *h, const definition_t *from, list_t *reached)
{
    for (int k = 0; k < h->definition_count; k++) {
        const definition_t *b = h->definitions[k];
        if (b->is_kernel || list_has(reached, b->name) || !list_has(&from->names, b->name))
            continue;
        list_add(reached, b->name);
        callgraph_add_reached(h, b, reached);
    }
}

/* The bytes of shared memory that a kernel and the functions it reaches declare, as C++. */
static const char *shared_bytes_text(const kernel_t *k, const program_t *h)
{
    list_t reached = {0};
    text_t types = {0};
    unsigned long long bytes = shared_declared(k->cursor, &types);
    callgraph_add_reached(h, k->definition, &reached);
    for (int i = 0; i < h->callee_count; i++)
        if (list_has(&reached, h->callees[i].definition->name))
            bytes += shared_declared(h->callees[i].cursor, NULL);
    return arena_printf("%llu%s", bytes, types.length ? types.data : "");
}

/* What a kernel says of itself. */
static const char *facts_text(unit_t *u, const kernel_t *k, const program_t *h, size_t body)
{
    return arena_printf("static const char *kmm_name() { return %s; } static unsigned kmm_bound() "
                        "{ return %s; } static size_t kmm_shared() { return %s; } ",
                        text_quoted(clang_text(clang_getCursorSpelling(k->cursor))),
                        bound_text(u, k->begin, body), shared_bytes_text(k, h));
}

static void kernel_edit(unit_t *u, const kernel_t *k, const program_t *h)
{
    parameters_t p = {.body = clang_getNullCursor()};
    size_t open, close, body, end;
    text_t names = {0};
    text_add(&names, "", 0);
    clang_visitChildren(k->cursor, find_parameters, &p);
    const char *name = clang_text(clang_getCursorSpelling(k->cursor));
    const char *parameters = parameters_text(u, &p, &names);
    if (clang_Cursor_isNull(p.body) || !parameters ||
        !parameters_are_written(u, k, &p, &open, &close) || !unit_range(u, p.body, &body, &end)) {
        diag_at(SEVERITY_ERROR, u->source, k->begin, k->end,
                "kernel '%s' is partly written by a macro; write it out", name);
        return;
    }
    captures_t captures = {u, false, 0};
    clang_visitChildren(p.body, index_capture_edit, &captures);
    captures.edits = true;
    locals_t locals = {u, false, 0, 0};
    clang_visitChildren(p.body, index_qualify, &locals);
    const char *facts = facts_text(u, k, h, body);
    if (h->hidden && u->options->verbose)
        diag_at(
            SEVERITY_NOTE, u->source, k->begin, k->begin,
            "the threads of kernel '%s' are fibers, which is slow: '%s' may bring it to a barrier "
            "without its name",
            name, h->hidden->name);
    if (!captures.count && !locals.count && !h->hidden && !u->options->fibers) {
        const char *reason;
        size_t at;
        split_t split = {.u = u,
                         .function = k->cursor,
                         .flags = k->flags & KMM_HOST_HELPERS,
                         .is_kernel = true,
                         .collective_of = callee_collective_of,
                         .context = h};
        int found;
        unsigned extent[3];
        const char *sized = NULL;
        if ((k->flags & KMM_HOST_SYNC) && extent_find(h->u, k->cursor, extent)) {
            split.extent = extent;
            split.sized = &sized;
        }
        const char *text = split_body(&split, &found, &reason, &at);
        if (text) {
            const char *second =
                !sized ? ""
                       : arena_printf("enum { kmm_x = %u, kmm_y = %u, kmm_z = %u }; static void "
                                      "kmm_sized(kmm_host_block &kmm_b%s) %s ",
                                      extent[0], extent[1], extent[2], parameters, sized);
            unit_edit(u, body, end,
                      arena_printf("{ struct kmm_kernel { %sstatic void kmm_block(kmm_host_block "
                                   "&kmm_b%s) %s %s}; kmm_host_launch<kmm_kernel, %s>(%s); }",
                                   facts, parameters, text, second,
                                   flags_text(k->flags | KMM_HOST_BLOCK | found |
                                              (sized ? KMM_HOST_SIZED : 0)),
                                   names.data));
            return;
        }
        if (u->options->verbose && (k->flags & KMM_HOST_SYNC))
            diag_at(SEVERITY_NOTE, u->source, at ? at : k->begin, at ? at : k->begin,
                    "the threads of kernel '%s' are fibers, which is slow: %s", name, reason);
    }
    clang_visitChildren(p.body, index_capture_edit, &captures);
    locals.edits = true;
    clang_visitChildren(p.body, index_qualify, &locals);
    shared_edit_fibers(u, body, end);
    unit_edit(
        u, body, body,
        arena_printf(
            "{ struct kmm_kernel { %sstatic KMM_HOST_INLINE void kmm_thread(KMM_HOST_INDEX%s) ",
            facts, parameters));
    unit_edit(u, end, end,
              arena_printf(" }; kmm_host_launch<kmm_kernel, %s>(%s); }",
                           flags_text(k->flags | (locals.count ? KMM_HOST_HELPERS : 0)),
                           names.data));
}

/* ---- Launches ---- */

/* The token at which the operand that ends before token k begins: `a::b<c>`, `p->k`, `table[i]`,
 * `(f)`, `get(0)`. */
static int operand_begin(const source_t *s, const tokens_t *list, int k)
{
    int i = k - 1;
    while (i >= 0) {
        int depth = 0;
        if (tokens_is(s, list, i, ">") || tokens_is(s, list, i, ">>")) {
            int round = 0; /* what parentheses hold is no angle bracket */
            for (; i >= 0; i--) {
                round += tokens_is(s, list, i, ")") - tokens_is(s, list, i, "(");
                if (round == 0)
                    depth += tokens_is(s, list, i, ">") + 2 * tokens_is(s, list, i, ">>") -
                             tokens_is(s, list, i, "<") - 2 * tokens_is(s, list, i, "<<");
                if (depth <= 0)
                    break;
            }
            i--;
            continue;
        }
        if (tokens_is(s, list, i, ")") || tokens_is(s, list, i, "]")) {
            for (; i >= 0; i--) {
                depth += tokens_is(s, list, i, ")") + tokens_is(s, list, i, "]") -
                         tokens_is(s, list, i, "(") - tokens_is(s, list, i, "[");
                if (depth == 0)
                    break;
            }
            bool called =
                i > 0 &&
                (tokens_is(s, list, i - 1, "]") || tokens_is(s, list, i - 1, ")") ||
                 tokens_is(s, list, i - 1, ">") ||
                 (list->at[i - 1].kind == TOKEN_NAME && !tokens_is(s, list, i - 1, "return") &&
                  !tokens_is(s, list, i - 1, "if")));
            /* `if (x) (f)<<<...>>>` and `(type)(f)` are not calls of what stands before. */
            if (!called || tokens_is(s, list, i - 1, ")"))
                return i;
            i--;
            continue;
        }
        if (i >= 1 && (tokens_is(s, list, i - 1, "::") || tokens_is(s, list, i - 1, ".") ||
                       tokens_is(s, list, i - 1, "->") || tokens_is(s, list, i - 1, "##"))) {
            i -= 2;
            if (i < 0 || (list->at[i].kind != TOKEN_NAME && !tokens_is(s, list, i, ">") &&
                          !tokens_is(s, list, i, ")") && !tokens_is(s, list, i, "]")))
                return i + 1;
            if (list->at[i].kind == TOKEN_NAME &&
                (tokens_is(s, list, i, "return") || tokens_is(s, list, i, "else") ||
                 tokens_is(s, list, i, "do")))
                return i + 1;
            continue;
        }
        return i;
    }
    return 0;
}

/* Whether a macro, or a parameter of the macro that writes the launch, stands for its arguments. A
 * definition that ends with `>>>` writes none. */
static bool names_arguments(const source_t *s, const tokens_t *list, int k)
{
    if (k >= list->count || list->at[k].kind != TOKEN_NAME)
        return false;
    for (size_t at = list->at[k - 1].end; at < list->at[k].begin; at++)
        if (s->text[at] == '\n' && s->text[at - 1 - (s->text[at - 1] == '\r')] != '\\')
            return false;
    return true;
}

static void launch_edit(unit_t *u, const tokens_t *list, int k)
{
    const source_t *s = u->source;
    int first = operand_begin(s, list, k), close = k + 1, depth = 0;
    for (; close < list->count && (depth > 0 || !tokens_is(s, list, close, ">>>")); close++)
        depth += tokens_is(s, list, close, "(") + tokens_is(s, list, close, "{") -
                 tokens_is(s, list, close, ")") - tokens_is(s, list, close, "}");
    int open = close + 1;
    bool named = names_arguments(s, list, open);
    int end = named && tokens_is(s, list, open + 1, "(") ? open + 1 : open;
    depth = 0;
    for (; end < list->count; end++) {
        depth += tokens_is(s, list, end, "(") - tokens_is(s, list, end, ")");
        if (depth == 0)
            break;
    }
    if ((!named && !tokens_is(s, list, open, "(")) || end >= list->count) {
        if (disabled_in_source(u, list->at[k].begin))
            return;
        diag_at(
            SEVERITY_ERROR, s, list->at[k].begin, list->at[k].end,
            "this launch has no arguments behind its '>>>'; write '<<<...>>>(...)' in one place");
        return;
    }
    const char *configuration =
        arena_copy(s->text + list->at[k].end, list->at[close].begin - list->at[k].end);
    unit_edit(u, list->at[first].begin, list->at[first].begin,
              arena_printf("(kmm_host_configure(%s), ", configuration));
    unit_edit(u, list->at[k].begin, list->at[close].end, named ? " " : "");
    unit_edit(u, list->at[end].end, list->at[end].end, ")");
}

/* ---- Kernels' addresses ---- */

static enum CXChildVisitResult last_child(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(CXCursor *)data = c;
    return CXChildVisit_Continue;
}

/* The kernel that the expression names, below conversions, parentheses and `&`; null: another
 * expression. */
static CXCursor named_kernel(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (kind == CXCursor_DeclRefExpr || kind == CXCursor_OverloadedDeclRef) {
        CXCursor f = clang_getCursorReferenced(c);
        if (clang_getCursorKind(f) == CXCursor_OverloadedDeclRef)
            f = clang_getNumOverloadedDecls(f) ? cursor_used(clang_getOverloadedDecl(f, 0))
                                               : clang_getNullCursor();
        CXCursor general = clang_getSpecializedCursorTemplate(f);
        f = clang_Cursor_isNull(general) ? f : general;
        return !clang_Cursor_isNull(f) && cursor_is_kernel(f) ? f : clang_getNullCursor();
    }
    CXCursor inner = clang_getNullCursor();
    if (kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr ||
        kind == CXCursor_UnaryOperator)
        clang_visitChildren(c, last_child, &inner);
    return clang_Cursor_isNull(inner) ? inner : named_kernel(inner);
}

static bool is_plain_address(CXType type)
{
    type = clang_getCanonicalType(type);
    return type.kind == CXType_Pointer &&
           clang_getCanonicalType(clang_getPointeeType(type)).kind == CXType_Void;
}

/* `(void *)k` notes the kernel's parameters, for launches by its address. */
static enum CXChildVisitResult address_edit(CXCursor c, CXCursor parent, CXClientData data)
{
    unit_t *main = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    CXCursor inner = clang_getNullCursor();
    size_t begin, end;
    (void)parent;
    if (clang_isDeclaration(kind) && clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    if ((kind != CXCursor_CStyleCastExpr && kind != CXCursor_CXXReinterpretCastExpr) ||
        !is_plain_address(clang_getCursorType(c)))
        return CXChildVisit_Recurse;
    clang_visitChildren(c, last_child, &inner);
    unit_t *u = unit_holding(main, c);
    if (!u || clang_Cursor_isNull(inner) || clang_Cursor_isNull(named_kernel(inner)) ||
        !unit_range(u, inner, &begin, &end))
        return CXChildVisit_Recurse;
    unit_edit(u, begin, begin, "kmm_host_kernel(");
    unit_edit(u, end, end, ")");
    return CXChildVisit_Recurse;
}

/* ---- Shared memory ---- */

static bool is_shared(const source_t *s, const tokens_t *list, int k)
{
    return tokens_is(s, list, k, "__shared__");
}

/* Whether the token is in a kernel or function that clang found in the file. */
typedef struct inside {
    const unit_t *u;
    size_t place;
    bool found;
} inside_t;

static enum CXChildVisitResult find_inside(CXCursor c, CXCursor parent, CXClientData data)
{
    inside_t *in = data;
    size_t begin, end;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (program_is_function(kind) && unit_range(in->u, c, &begin, &end))
        in->found |= begin <= in->place && in->place < end;
    bool opens = kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
                 kind == CXCursor_UnexposedDecl || kind == CXCursor_StructDecl ||
                 kind == CXCursor_ClassDecl || kind == CXCursor_ClassTemplate;
    return opens ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

/* `extern __shared__ float s[];` is the block's dynamic memory; `static __shared__` says static
 * twice. */
static void shared_edit(unit_t *u, const tokens_t *list, int k)
{
    const source_t *s = u->source;
    int begin = k, end = k, bracket = -1;
    bool external = false;
    while (begin > 0 && !tokens_is(s, list, begin - 1, ";") &&
           !tokens_is(s, list, begin - 1, "{") && !tokens_is(s, list, begin - 1, "}") &&
           !tokens_is(s, list, begin - 1, ")") && !tokens_is(s, list, begin - 1, ":"))
        begin--;
    for (; end < list->count && !tokens_is(s, list, end, ";"); end++)
        bracket = tokens_is(s, list, end, "[") ? end : bracket;
    for (int i = begin; i < end; i++) {
        external |= tokens_is(s, list, i, "extern");
        if (tokens_is(s, list, i, "static"))
            unit_edit(u, list->at[i].begin, list->at[i].end, "");
    }
    if (!external)
        return;
    if (bracket < 1 || end >= list->count || list->at[bracket - 1].kind != TOKEN_NAME) {
        diag_at(SEVERITY_ERROR, s, list->at[k].begin, list->at[k].end,
                "dynamic shared memory is declared as 'extern __shared__ type name[];'");
        return;
    }
    text_t type = {0};
    text_add(&type, "", 0);
    for (int i = begin; i < bracket - 1; i++) {
        if (tokens_is(s, list, i, "extern") || is_shared(s, list, i))
            continue;
        if (tokens_is(s, list, i, "__align__") || tokens_is(s, list, i, "alignas") ||
            tokens_is(s, list, i, "__attribute__")) {
            int depth = 0;
            do {
                i++;
                depth += tokens_is(s, list, i, "(") - tokens_is(s, list, i, ")");
            } while (depth && i < bracket);
            continue;
        }
        text_printf(&type, "%s%s", type.length ? " " : "", token_text(s, list->at[i]));
    }
    const char *name = token_text(s, list->at[bracket - 1]);
    inside_t in = {.u = u, .place = list->at[k].begin};
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_inside, &in);
    const char *text =
        in.found ? arena_printf("%s *const %s = static_cast<%s *>(kmm_host_shared_base)", type.data,
                                name, type.data)
                 : arena_printf("static const kmm_host_shared<%s> %s = {}", type.data, name);
    unit_edit(u, list->at[begin].begin, list->at[end].begin, text);
}

/* ---- The file ---- */

/* The tokens of each file of the program, in the order of the units. */
static tokens_t *read_files(program_t *h)
{
    int count = 0, k = 0;
    for (const unit_t *u = h->u; u; u = u->next)
        count++;
    tokens_t *files = arena_alloc((size_t)count * sizeof(*files));
    for (const unit_t *u = h->u; u; u = u->next, k++) {
        tokens_read(u->source, 0, u->source->length, &files[k]);
        find_macros(h, u->source);
        find_globals(h, u->source, &files[k]);
    }
    return files;
}

/* Whether the place is in a function of the device alone. */
static bool is_on_device(const program_t *h, const unit_t *u, size_t at)
{
    for (int k = 0; k < h->kernel_count; k++)
        if (h->kernels[k].u == u && at >= h->kernels[k].begin && at < h->kernels[k].end)
            return true;
    for (int k = 0; k < h->callee_count; k++) {
        const callee_t *c = &h->callees[k];
        if (c->u == u && at >= c->begin && at < c->end)
            return !cursor_has_child(c->cursor, CXCursor_CUDAHostAttr);
    }
    return false;
}

static void edit_file(const program_t *h, unit_t *u, const tokens_t *list)
{
    for (int k = 0; k < list->count; k++) {
        const token_t t = list->at[k];
        if (tokens_is(u->source, list, k, "<<<") && is_on_device(h, u, t.begin) &&
            !disabled_in_source(u, t.begin))
            diag_at(SEVERITY_ERROR, u->source, t.begin, t.end,
                    "launches from kernels are missing on the CPU target");
        else if (tokens_is(u->source, list, k, "<<<"))
            launch_edit(u, list, k);
        else if (is_shared(u->source, list, k))
            shared_edit(u, list, k);
    }
}

void host_kernels(unit_t *main)
{
    program_t h = {.u = main};
    int errors = diag_error_count();
    clang_getInclusions(main->tu, find_header, &h);
    clang_visitChildren(clang_getTranslationUnitCursor(main->tu), find_functions, &h);
    const tokens_t *list = read_files(&h);
    requirements_find(&h);
    ptx_refuse(&h);
    if (diag_error_count() > errors)
        return;
    for (unit_t *u = main; u; u = u->next)
        edit_file(&h, u, list++);
    clang_visitChildren(clang_getTranslationUnitCursor(main->tu), address_edit, main);
    if (!h.hidden && !main->options->fibers) {
        callees_find_fibers(&h);
        callees_edit(&h);
    }
    for (int k = 0; k < h.kernel_count; k++)
        kernel_edit(h.kernels[k].u, &h.kernels[k], &h);
}
