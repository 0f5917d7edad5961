/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the definitions, kernels, callees and variables of a program: functions by clang, macros
 * and variables by their tokens.
 */
#include "cpu/program/scan.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "clang/cursor.h"
#include "cpu/program/callgraph.h"
#include "cpu/program/ptx.h"

bool scan_is_function(enum CXCursorKind k)
{
    return k == CXCursor_FunctionDecl || k == CXCursor_FunctionTemplate ||
           k == CXCursor_CXXMethod || k == CXCursor_Constructor || k == CXCursor_Destructor ||
           k == CXCursor_ConversionFunction;
}

/* True if kernels can call the function only by its name. False for functions of the CPU: one that
 * names a device function may hand it to a kernel as a template argument. */
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
    if (cursor_is_kernel(c))
        add_kernel(h, c, b);
    else if (b->is_called_by_name)
        add_callee(h, (callee_t){c, is_read ? u : NULL, is_read ? begin : 0, is_read ? end : 0, b});
}

/* A variable of the device is a definition, with the names in its initializer: kernels may call
 * functions whose addresses it holds. */
static void add_variable(program_t *h, CXCursor c)
{
    const bool is_constant = cursor_has_child(c, CXCursor_CUDAConstantAttr);
    const char *name = clang_text(clang_getCursorSpelling(c));
    unit_t *u = unit_holding(h->u, c);
    size_t begin, end;
    if (is_constant && type_holds_pointers(clang_getCursorType(c)))
        list_add(&h->pointing, name);
    if (!u || !(is_constant || cursor_has_child(c, CXCursor_CUDADeviceAttr)) ||
        !unit_range(u, c, &begin, &end))
        return;
    definition_t *v = definition_add(h, name);
    v->is_called_by_name = true;
    definition_read(v, u->source, begin, end);
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
    if (scan_is_function(kind) && clang_isCursorDefinition(c))
        add_function(h, c);
    else if (scan_is_function(kind) && !cursor_is_kernel(c) &&
             clang_Cursor_isNull(clang_getCursorDefinition(c)))
        add_declared(h, c);
    else if (kind == CXCursor_VarDecl)
        add_variable(h, c);
    return scan_is_function(kind) ? CXChildVisit_Continue : CXChildVisit_Recurse;
}

/* A macro is a definition, with the names in its replacement. */
static void find_macros(program_t *h, const source_t *s)
{
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        token_t word;
        lexer_t inner = lexer_in_directive(s, t, &word);
        token_t name = lex(&inner);
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

tokens_t *program_scan(program_t *h)
{
    clang_getInclusions(h->u->tu, find_header, h);
    clang_visitChildren(clang_getTranslationUnitCursor(h->u->tu), find_functions, h);
    return read_files(h);
}
