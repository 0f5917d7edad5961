/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out if an expression has side effects. One with side effects cannot be repeated. */
#include "analyze/effects.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "clang/cursor.h"

typedef struct effects {
    bool found;
    int depth;
} effects_t;

static bool function_has_effects(CXCursor f, int depth);

/* True if the operand is a plain variable of the function in which it is changed. */
static bool is_own_variable(CXCursor operand)
{
    if (clang_getCursorKind(operand) != CXCursor_DeclRefExpr)
        return false;
    CXCursor variable = clang_getCursorReferenced(operand);
    enum CXCursorKind kind = clang_getCursorKind(variable);
    bool local =
        kind == CXCursor_ParmDecl ||
        (kind == CXCursor_VarDecl && clang_Cursor_getStorageClass(variable) == CX_SC_None &&
         clang_getCursorKind(clang_getCursorSemanticParent(variable)) == CXCursor_FunctionDecl);
    return local &&
           clang_getCanonicalType(clang_getCursorType(variable)).kind != CXType_LValueReference;
}

static bool changes_something(CXCursor c, int depth)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool changes = kind == CXCursor_CompoundAssignOperator;
    if (kind == CXCursor_BinaryOperator)
        changes = clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign;
    if (kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
        changes = op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec;
    }
    return changes && !(depth > 0 && is_own_variable(cursor_first_child(c)));
}

/* True if a function that a _Generic names has effects; also where it calls none of those. */
static bool selection_has_effects(CXCursor callee, int depth)
{
    enum CXCursorKind kind = clang_getCursorKind(callee);
    cursors_t list = cursor_children(callee);
    bool found = kind != CXCursor_GenericSelectionExpr;
    if ((kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr) && list.count == 1)
        return selection_has_effects(list.at[0], depth);
    for (int k = 0; k < list.count && !found; k++) {
        CXCursor c = list.at[k];
        if (clang_getCursorKind(c) == CXCursor_UnaryOperator) /* &f */
            c = cursor_first_child(c);
        CXCursor f = clang_getCursorReferenced(c);
        if (clang_getCursorKind(f) == CXCursor_FunctionDecl)
            found = function_has_effects(f, depth);
        else if (clang_getCursorKind(c) == CXCursor_GenericSelectionExpr)
            found = selection_has_effects(c, depth);
    }
    return found;
}

static bool call_has_effects(CXCursor call, int depth)
{
    CXCursor f = clang_getCursorReferenced(call);
    bool none = clang_Cursor_isNull(f) || clang_isInvalid(clang_getCursorKind(f));
    return none ? selection_has_effects(cursor_first_child(call), depth)
                : function_has_effects(f, depth);
}

static enum CXChildVisitResult find_effects(CXCursor c, CXCursor parent, CXClientData data)
{
    effects_t *e = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    e->found |= kind == CXCursor_CXXNewExpr || kind == CXCursor_CXXDeleteExpr ||
                kind == CXCursor_CXXThrowExpr || kind == CXCursor_LambdaExpr ||
                kind == CXCursor_StmtExpr || kind == CXCursor_GCCAsmStmt;
    e->found |= changes_something(c, e->depth);
    if (kind == CXCursor_CallExpr)
        e->found |= call_has_effects(c, e->depth + 1);
    return e->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool has_effects(CXCursor c, int depth)
{
    effects_t e = {false, depth};
    find_effects(c, c, &e);
    if (!e.found)
        clang_visitChildren(c, find_effects, &e);
    return e.found;
}

/* True for what the C++ library reads from its containers. The bodies of these call what only an
 * instance knows. */
static bool reads_container(CXCursor f)
{
    static const char *const names[] = {"data",  "size", "begin",      "end",   "cbegin", "cend",
                                        "empty", "back", "operator[]", "front", NULL};
    return cursor_is_system(f) && text_is_one_of(cursor_name(f), names);
}

/* A function has no side effects if it is known, or if its body is seen and changes only its own
 * variables. */
static bool function_has_effects(CXCursor f, int depth)
{
    static const char *const known[] = {"min", "max", "abs", "labs", "llabs"};
    enum { DEEPEST = 8 };
    if (clang_Cursor_isNull(f) || depth > DEEPEST)
        return true;
    const char *name = cursor_name(f);
    for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
        if (!strcmp(name, known[k]))
            return false;
    if (clang_CXXMethod_isConst(f) || reads_container(f))
        return false;
    CXCursor template = clang_getSpecializedCursorTemplate(f);
    CXCursor definition = clang_getCursorDefinition(clang_Cursor_isNull(template) ? f : template);
    if (clang_Cursor_isNull(definition))
        return true;
    CXCursor body = cursor_body(definition);
    return clang_Cursor_isNull(body) || has_effects(body, depth);
}

bool effects_is_pure(CXCursor call)
{
    return !clang_Cursor_isNull(call) && !has_effects(call, 0);
}
