/* SPDX-License-Identifier: Apache-2.0 */
/* Finds calls of setjmp in files with blocks of `data`, which a jump may leave. */
#include "emit/jump.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <string.h>

#include "clang/cursor.h"
#include "pragma/directive.h"

/* A visit of the translation unit. */
typedef struct search {
    unit_t *u;
    bool is_declared; /* a header has declared setjmp */
    bool is_called;   /* in the function that is visited */
    bool is_found;
} search_t;

/* The names that <setjmp.h> gives its functions. */
static bool is_setjmp(CXCursor f)
{
    const char *name = cursor_name(f);
    return !strcmp(name, "setjmp") || !strcmp(name, "_setjmp") || !strcmp(name, "sigsetjmp") ||
           !strcmp(name, "__sigsetjmp");
}

static enum CXChildVisitResult find_call(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *s = data;
    (void)parent;
    s->is_called = clang_getCursorKind(c) == CXCursor_CallExpr && is_setjmp(c);
    return s->is_called ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static enum CXChildVisitResult find_function(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *s = data;
    (void)parent;
    s->is_declared |= clang_getCursorKind(c) == CXCursor_FunctionDecl && is_setjmp(c);
    if (clang_getCursorKind(c) == CXCursor_LinkageSpec && !unit_is_in(s->u, c))
        return CXChildVisit_Recurse; /* extern "C" of a header */
    if (!s->is_declared || !unit_is_in(s->u, c))
        return CXChildVisit_Continue;
    s->is_called = false;
    clang_visitChildren(c, find_call, s);
    s->is_found |= s->is_called;
    if (s->is_called)
        unit_include_before(s->u, c);
    return CXChildVisit_Continue;
}

bool jump_find(unit_t *u)
{
    search_t s = {.u = u};
    bool has_blocks = false;
    for (int k = 0; k < u->directive_count; k++)
        has_blocks |= u->directives[k]->bound && u->directives[k]->kind == DIRECTIVE_DATA;
    if (has_blocks)
        clang_visitChildren(clang_getTranslationUnitCursor(u->tu), find_function, &s);
    return s.is_found;
}
