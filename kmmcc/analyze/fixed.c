/* SPDX-License-Identifier: Apache-2.0 */
/* Finds variables that are constants, though they are not declared so: each mention of one is a
 * load, so that nothing can store to it or have its address. */
#include "analyze/fixed.h"

#include "base/arena.h"
#include "clang/cursor.h"

struct fixed {
    CXCursor function;
    struct variable {
        struct variable *next;
        CXCursor of;
        bool is_fixed;
        int64_t value;
    } *first;
};

fixed_t *fixed_new(CXCursor function)
{
    fixed_t *f = arena_alloc(sizeof(*f));
    *f = (fixed_t){.function = function};
    return f;
}

/* The mentions of one variable below a cursor; `load`: that cursor loads what it is of. */
typedef struct mentions {
    CXCursor of;
    bool loads, is_found, are_loads;
} mentions_t;

/* A conversion that is not written, of a variable to its value: not to a reference or to const. */
static bool is_load(CXCursor c)
{
    CXType type = clang_getCursorType(c);
    return clang_getCursorKind(c) == CXCursor_UnexposedExpr && type_is_integer(type) &&
           !clang_isConstQualifiedType(type);
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    mentions_t *up = data, inner = *up;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    bool names = kind == CXCursor_DeclRefExpr || kind == CXCursor_VariableRef;
    if (names && clang_equalCursors(clang_getCursorReferenced(c), up->of)) {
        up->is_found = true;
        up->are_loads &= kind == CXCursor_DeclRefExpr && up->loads;
        return CXChildVisit_Continue;
    }
    if (kind != CXCursor_ParenExpr)
        inner.loads = is_load(c);
    clang_visitChildren(c, visit, &inner);
    up->is_found |= inner.is_found;
    up->are_loads &= inner.are_loads;
    return up->are_loads ? CXChildVisit_Continue : CXChildVisit_Break;
}

static void find(const fixed_t *f, struct variable *v)
{
    mentions_t m = {.of = v->of, .are_loads = true};
    CXCursor initial = clang_getCursorKind(v->of) == CXCursor_VarDecl
                           ? clang_Cursor_getVarDeclInitializer(v->of)
                           : clang_getNullCursor();
    CXType type = clang_getCursorType(v->of);
    long long value;
    if (clang_Cursor_isNull(initial) || !type_is_integer(type) ||
        clang_isVolatileQualifiedType(type) ||
        clang_Cursor_getStorageClass(v->of) == CX_SC_Static ||
        clang_Cursor_getStorageClass(v->of) == CX_SC_Extern ||
        !cursor_evaluates_to(initial, &value))
        return;
    clang_visitChildren(f->function, visit, &m);
    v->is_fixed = m.is_found && m.are_loads;
    v->value = value;
}

bool fixed_value(fixed_t *f, CXCursor variable, int64_t *value)
{
    struct variable *v = f->first;
    while (v && !clang_equalCursors(v->of, variable))
        v = v->next;
    if (!v) {
        v = arena_alloc(sizeof(*v));
        *v = (struct variable){.next = f->first, .of = variable};
        f->first = v;
        if (!clang_Cursor_isNull(f->function))
            find(f, v);
    }
    *value = v->value;
    return v->is_fixed;
}
