/* SPDX-License-Identifier: Apache-2.0 */
/* Finds variables that are constants, though they are not declared so: each mention of one is a
 * load or a copy, so that nothing can store to it or have its address. */
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

/* The mentions of one variable below a cursor; `loads`: that cursor loads what it is of, or a copy
 * is made of it. */
typedef struct mentions {
    CXCursor of;
    bool loads, copies, is_found, are_loads;
} mentions_t;

/* A conversion that is not written, of a variable to its value: not to a reference or to const. */
static bool is_load(CXCursor c)
{
    CXType type = clang_getCursorType(c);
    return clang_getCursorKind(c) == CXCursor_UnexposedExpr && type_is_integer(type) &&
           !clang_isConstQualifiedType(type);
}

/* A constructor's call that makes a copy of its argument. */
static bool is_copy(CXCursor c)
{
    return clang_getCursorKind(c) == CXCursor_CallExpr && clang_Cursor_getNumArguments(c) == 1 &&
           clang_CXXConstructor_isCopyConstructor(clang_getCursorReferenced(c));
}

static bool is_field(CXCursor c)
{
    return clang_getCursorKind(c) == CXCursor_MemberRefExpr &&
           clang_getCursorKind(clang_getCursorReferenced(c)) == CXCursor_FieldDecl;
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
    if (kind != CXCursor_ParenExpr) {
        inner.copies = is_copy(c);
        inner.loads = is_load(c) || inner.copies || (is_field(c) && up->loads && !up->copies) ||
                      (kind == CXCursor_UnexposedExpr && up->copies);
    }
    clang_visitChildren(c, visit, &inner);
    up->is_found |= inner.is_found;
    up->are_loads &= inner.are_loads;
    return up->are_loads ? CXChildVisit_Continue : CXChildVisit_Break;
}

bool fixed_is_loaded(CXCursor function, CXCursor variable)
{
    mentions_t m = {.of = variable, .are_loads = true};
    clang_visitChildren(function, visit, &m);
    return m.is_found && m.are_loads;
}

static void find(const fixed_t *f, struct variable *v)
{
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
    v->is_fixed = fixed_is_loaded(f->function, v->of);
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
