/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that declarations govern. A declaration is checked in a function that nothing calls,
 * which has the kernel's parameters and stands in the pragma's place when the completed source is
 * parsed.
 */
#include "analyze/declaration.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/disabled.h"

/* ---- The kernel that a declaration governs ---- */

typedef struct nearest {
    const unit_t *u;
    size_t after, begin;
    CXCursor found;
} nearest_t;

static enum CXChildVisitResult find_nearest(CXCursor c, CXCursor parent, CXClientData data)
{
    nearest_t *n = data;
    size_t begin, end;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (cursor_is_namespace(c))
        return CXChildVisit_Recurse;
    bool function = kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate;
    if (function && unit_range(n->u, c, &begin, &end) && begin >= n->after && begin < n->begin) {
        n->begin = begin;
        n->found = c;
    }
    return CXChildVisit_Continue;
}

/* True if what stands between the pragma and the function can be the beginning of the function's
 * declaration. */
static bool is_adjacent(const source_t *s, size_t from, size_t to)
{
    lexer_t l = lexer_at(s, from, to);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (token_is(s, t, ";") || token_is(s, t, "{") || token_is(s, t, "}") ||
            token_is(s, t, "="))
            return false;
    return true;
}

static bool meets_directive(const source_t *s, size_t from, size_t to)
{
    lexer_t l = lexer_at(s, from, to);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_DIRECTIVE)
            return true;
    return false;
}

static CXCursor kernel_below(unit_t *u, const directive_t *d)
{
    nearest_t n = {u, d->pragma.end, SIZE_MAX, clang_getNullCursor()};
    clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_nearest, &n);
    if (clang_Cursor_isNull(n.found) || !is_adjacent(u->source, d->pragma.end, n.begin))
        return clang_getNullCursor();
    if (meets_directive(u->source, d->pragma.end, n.begin) && disabled_in_parsed(u, d->parsed_at))
        return clang_getNullCursor();
    return n.found;
}

static enum CXChildVisitResult add_parameter(CXCursor c, CXCursor parent, CXClientData data)
{
    declaration_t *n = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_ParmDecl && n->count < MAX_PARAMETERS) {
        n->parameter[n->count] = c;
        n->name[n->count++] = cursor_name(c);
    } else if ((kind == CXCursor_NonTypeTemplateParameter ||
                kind == CXCursor_TemplateTypeParameter) &&
               n->template_count < MAX_PARAMETERS) {
        n->template_name[n->template_count++] = cursor_name(c);
    }
    return CXChildVisit_Continue;
}

declaration_t *declaration_of_kernel(unit_t *u, directive_t *d, CXCursor kernel)
{
    declaration_t *n = arena_alloc(sizeof(*n));
    *n = (declaration_t){.u = u, .d = d, .kernel = kernel};
    clang_visitChildren(kernel, add_parameter, n);
    return n;
}

/* ---- The function in which it is checked ---- */

/* `template <...>` before the function; "" when there is none. */
static const char *template_head(const unit_t *u, CXCursor kernel)
{
    size_t begin, end;
    int angles = 0, parens = 0;
    if (clang_getCursorKind(kernel) != CXCursor_FunctionTemplate ||
        !unit_range(u, kernel, &begin, &end))
        return "";
    lexer_t l = lexer_at(u->source, begin, end);
    lex(&l);
    do {
        token_t t = lex(&l);
        if (t.kind == TOKEN_END)
            return NULL;
        parens += token_is(u->source, t, "(") - token_is(u->source, t, ")");
        if (!parens)
            angles += token_is(u->source, t, "<") - token_is(u->source, t, ">") -
                      2 * token_is(u->source, t, ">>");
    } while (angles > 0);
    return source_words(u->source, begin, l.at);
}

/* NULL when a macro writes the parameters: then the launches alone are checked. */
static const char *check_head(const declaration_t *n, int number)
{
    const char *head = template_head(n->u, n->kernel);
    text_t out = {0};
    size_t begin, end;
    if (!head)
        return NULL;
    text_printf(&out, "%s static inline __attribute__((unused)) void kmm_declared_%d(", head,
                number);
    for (int k = 0; k < n->count; k++) {
        if (!unit_range(n->u, n->parameter[k], &begin, &end))
            return NULL;
        text_printf(&out, "%s%s", k ? ", " : "", source_words(n->u->source, begin, end));
    }
    text_printf(&out, ") ");
    return out.data;
}

/* ---- All declarations ---- */

declaration_t *declaration_find(declaration_t *list, CXCursor kernel)
{
    for (; list; list = list->next)
        if (clang_equalCursors(clang_getCanonicalCursor(list->kernel),
                               clang_getCanonicalCursor(kernel)))
            return list;
    return NULL;
}

static declaration_t *bind_one(unit_t *u, directive_t *d, declaration_t *list)
{
    CXCursor kernel = kernel_below(u, d);
    if (clang_Cursor_isNull(kernel)) {
        if (!disabled_in_parsed(u, d->parsed_at))
            unit_error(u, d->name_begin, d->name_end,
                       "'declare kernel' governs no kernel: put it before the definition or a "
                       "declaration of one");
        return NULL;
    }
    const char *name = cursor_name(kernel);
    if (!cursor_is_kernel(kernel)) {
        unit_error(u, d->name_begin, d->name_end,
                   "'declare kernel' governs '%s', which is no kernel; what the call of "
                   "a function accesses is said at the call",
                   name);
        return NULL;
    }
    if (declaration_find(list, kernel)) {
        unit_error(u, d->name_begin, d->name_end, "kernel '%s' has two 'declare kernel'; leave one",
                   name);
        return NULL;
    }
    d->declares = true;
    d->callee = kernel;
    return declaration_of_kernel(u, d, kernel);
}

declaration_t *declaration_bind_all(unit_t *u)
{
    declaration_t *list = NULL, **last = &list;
    int number = 0;
    for (unit_t *file = u; file; file = file->next) {
        if (file != u && !unit_is_included(file))
            continue;
        for (int k = 0; k < file->directive_count; k++) {
            directive_t *d = file->directives[k];
            declaration_t *n = d->kind == DIRECTIVE_DECLARE ? bind_one(file, d, list) : NULL;
            if (!n)
                continue;
            d->check_head = check_head(n, number++);
            *last = n;
            last = &n->next;
        }
    }
    return list;
}
