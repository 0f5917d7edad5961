/* SPDX-License-Identifier: Apache-2.0 */
/* Finds variables of static storage in a plain function and in what it calls. */
#include "analyze/state.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "analyze/check_argument.h"
#include "base/arena.h"
#include "clang/cursor.h"

enum { MAX_SEEN = 256 };

typedef struct walk {
    unit_t *main;
    const directive_t *d;
    CXCursor seen[MAX_SEEN], stored, stored_variable, named, named_variable;
    CXCursor own, own_variable; /* the mention of a variable that each thread has of its own */
    int seen_count;
    bool locks; /* stores may be one at a time */
    bool reads; /* variables of the program may be read */
} walk_t;

static bool is_static(CXCursor v)
{
    enum CX_StorageClass storage = clang_Cursor_getStorageClass(v);
    if (clang_getCursorKind(v) != CXCursor_VarDecl)
        return false;
    enum CXCursorKind scope = clang_getCursorKind(clang_getCursorSemanticParent(v));
    return storage == CX_SC_Static || storage == CX_SC_Extern ||
           scope == CXCursor_TranslationUnit || scope == CXCursor_Namespace;
}

/* The variable of which an lvalue is a part: not what a pointer points to. Null: there is none. */
static CXCursor whole_of(CXCursor c)
{
    for (;;) {
        cursors_t list = cursor_children(c);
        switch (clang_getCursorKind(c)) {
        case CXCursor_DeclRefExpr: return clang_getCursorReferenced(c);
        case CXCursor_ArraySubscriptExpr:
            if (list.count != 2)
                return clang_getNullCursor();
            c = list.at[0];
            while (clang_getCursorKind(c) == CXCursor_UnexposedExpr ||
                   clang_getCursorKind(c) == CXCursor_ParenExpr)
                c = cursor_last_child(c);
            if (!type_is_array(clang_getCanonicalType(clang_getCursorType(c))))
                return clang_getNullCursor();
            break;
        case CXCursor_MemberRefExpr:
            if (list.count == 0 ||
                clang_getCanonicalType(clang_getCursorType(list.at[0])).kind == CXType_Pointer)
                return clang_getNullCursor();
            c = list.at[0];
            break;
        case CXCursor_UnexposedExpr:
        case CXCursor_ParenExpr:
            if (list.count == 0)
                return clang_getNullCursor();
            c = list.at[0];
            break;
        default: return clang_getNullCursor();
        }
    }
}

static void note_store(walk_t *w, CXCursor place, CXCursor what)
{
    CXCursor v = whole_of(what);
    if (clang_Cursor_isNull(v) || !is_static(v) || !clang_Cursor_isNull(w->stored))
        return;
    CXType type = clang_getCanonicalType(clang_getCursorType(v));
    if (clang_isVolatileQualifiedType(type) || type.kind == CXType_Atomic)
        return;
    w->stored = place;
    w->stored_variable = v;
}

/* A variable that the program can change: not one of the function's own, which nothing else
 * changes, and no constant. */
static void note_read(walk_t *w, CXCursor place)
{
    CXCursor v = clang_getCursorReferenced(place);
    CXType type = clang_getCanonicalType(clang_getCursorType(v));
    enum CXCursorKind scope = clang_getCursorKind(clang_getCursorSemanticParent(v));
    bool local = scope == CXCursor_FunctionDecl || scope == CXCursor_CXXMethod ||
                 scope == CXCursor_FunctionTemplate;
    if (!is_static(v) || (local && clang_Cursor_getStorageClass(v) == CX_SC_Static))
        return;
    if (clang_getCursorTLSKind(v) != CXTLS_None && clang_Cursor_isNull(w->own)) {
        w->own = place;
        w->own_variable = v;
    }
    bool constant = clang_isConstQualifiedType(type);
    for (; type_is_array(type); constant |= clang_isConstQualifiedType(type))
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    w->reads |= !constant || type.kind == CXType_Pointer;
}

/* An array that a clause names is reached by its own name. */
static void note_name(walk_t *w, CXCursor place)
{
    CXCursor v = clang_getCursorReferenced(place);
    CXType type = clang_getCanonicalType(clang_getCursorType(v));
    if (!is_static(v) || !clang_Cursor_isNull(w->named) ||
        !(type_is_array(type) || type.kind == CXType_Pointer))
        return;
    for (int k = 0; k < w->d->item_count; k++)
        if (clang_equalCursors(clang_getCanonicalCursor(v),
                               clang_getCanonicalCursor(cursor_root(w->d->item[k].base->cursor)))) {
            w->named = place;
            w->named_variable = v;
        }
}

static void walk_function(walk_t *w, CXCursor f);

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    walk_t *w = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_UnaryExpr || kind == CXCursor_ParmDecl) /* sizeof; a type with typeof */
        return CXChildVisit_Continue;
    if (kind == CXCursor_DeclRefExpr) {
        note_name(w, c);
        note_read(w, c);
    }
    if (kind == CXCursor_CallExpr) {
        const char *name = cursor_name(c);
        w->locks |=
            strstr(name, "lock") || strstr(name, "call_once") || strstr(name, "pthread_once");
        CXCursor called = clang_getCursorReferenced(c);
        enum CXCursorKind is = clang_getCursorKind(called);
        if (clang_isDeclaration(is))
            walk_function(w, called);
        w->reads |= clang_isInvalid(is) || is == CXCursor_ParmDecl || is == CXCursor_VarDecl ||
                    is == CXCursor_FieldDecl; /* through a pointer */
    }
    bool stores = kind == CXCursor_CompoundAssignOperator ||
                  (kind == CXCursor_BinaryOperator &&
                   clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign) ||
                  (kind == CXCursor_UnaryOperator &&
                   clang_getCursorUnaryOperatorKind(c) >= CXUnaryOperator_PostInc &&
                   clang_getCursorUnaryOperatorKind(c) <= CXUnaryOperator_PreDec);
    cursors_t list = cursor_children(c);
    if (stores && list.count)
        note_store(w, c, list.at[0]);
    return CXChildVisit_Recurse;
}

static void walk_function(walk_t *w, CXCursor f)
{
    CXCursor template = clang_getSpecializedCursorTemplate(f),
             definition = clang_getCursorDefinition(clang_Cursor_isNull(template) ? f : template);
    size_t begin, end;
    CXCursor declaration = clang_Cursor_isNull(definition) ? f : definition;
    if (clang_Location_isInSystemHeader(clang_getCursorLocation(declaration)) ||
        strncmp(cursor_name(f), "__builtin_", strlen("__builtin_")) == 0)
        return;
    w->reads |= clang_Cursor_isNull(definition) || w->seen_count == MAX_SEEN;
    if (clang_Cursor_isNull(definition) || w->seen_count == MAX_SEEN)
        return;
    for (int k = 0; k < w->seen_count; k++)
        if (clang_equalCursors(w->seen[k], definition))
            return;
    w->seen[w->seen_count++] = definition;
    const unit_t *holder = unit_holding(w->main, definition);
    if (holder && unit_range(holder, definition, &begin, &end)) {
        const char *text = arena_copy(holder->source->text + begin, end - begin);
        w->locks |= strstr(text, "omp atomic") || strstr(text, "omp critical");
    }
    clang_visitChildren(definition, visit, w);
}

static walk_t *walk(const unit_t *u, const directive_t *d)
{
    walk_t *w = arena_alloc(sizeof(*w));
    CXCursor none = clang_getNullCursor();
    *w = (walk_t){.main = u->main,
                  .d = d,
                  .stored = none,
                  .stored_variable = none,
                  .named = none,
                  .named_variable = none,
                  .own = none,
                  .own_variable = none};
    walk_function(w, d->target[0].kernel);
    return w;
}

bool state_is_read(const unit_t *u, const directive_t *d)
{
    return walk(u, d)->reads;
}

bool check_state(unit_t *u, directive_t *d)
{
    if (d->is_kernel || d->target_count != 1 || !d->rebase_count)
        return true;
    walk_t *w = walk(u, d);
    if (!clang_Cursor_isNull(w->own)) {
        unit_error(u, d->rebase_begin, d->rebase_end,
                   "'%s' uses '%s', of which each thread has its own, and chunks run on threads of "
                   "kmm; make it a parameter",
                   d->callee_name, cursor_name(w->own_variable));
        check_note(u, w->own, "it is used here");
        return false;
    }
    if (!clang_Cursor_isNull(w->stored) && !w->locks) {
        bool local = clang_getCursorKind(clang_getCursorSemanticParent(w->stored_variable)) ==
                     CXCursor_FunctionDecl;
        unit_error(
            u, d->rebase_begin, d->rebase_end,
            "'%s' changes the %s variable '%s', which all chunks share, and they run at once "
            "and in any order; make it a parameter, which rebase tells where the chunk "
            "begins or a clause names",
            d->callee_name, local ? "static" : "global", cursor_name(w->stored_variable));
        check_note(u, w->stored, "it is changed here");
        return false;
    }
    if (!clang_Cursor_isNull(w->named)) {
        unit_error(u, d->rebase_begin, d->rebase_end,
                   "'%s' uses '%s' by its name: there, indices do not begin where the chunk does, "
                   "and the memory may not be that of the chunk; make it a parameter",
                   d->callee_name, cursor_name(w->named_variable));
        check_note(u, w->named, "it is used here");
        return false;
    }
    return true;
}
