/* SPDX-License-Identifier: Apache-2.0 */
/* Finds by which variable a function reaches the memory of an lvalue. */
#include "analyze/home.h"

#include <stdbool.h>

#include "analyze/flow.h"
#include "clang/cursor.h"

static bool is_step(CXCursor c)
{
    switch (clang_getCursorUnaryOperatorKind(c)) {
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec: return true;
    default: return false;
    }
}

/* The pointer in a sum, a cast or a step. */
static CXCursor moved_pointer(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c = flow_operand(c));
        cursors_t list = cursor_children(c);
        if (kind == CXCursor_BinaryOperator && list.count == 2)
            c = flow_is_address(list.at[1]) ? list.at[1] : list.at[0];
        else if (list.count && (kind == CXCursor_CStyleCastExpr ||
                                (kind == CXCursor_UnaryOperator && is_step(c))))
            c = list.at[list.count - 1];
        else
            return c;
    }
}

/* Where a pointer variable leads. */
static home_t pointer_home(CXCursor variable)
{
    return clang_getCursorKind(variable) == CXCursor_ParmDecl ? HOME_PARAMETER
           : cursor_is_static(variable)                       ? HOME_ELSEWHERE
                                                              : HOME_LOCAL;
}

home_t home_find(CXCursor c)
{
    bool loaded = false; /* a pointer on the way lies in memory */
    for (;;) {
        c = flow_operand(c);
        cursors_t list = cursor_children(c);
        enum CXCursorKind kind = clang_getCursorKind(c);
        if (kind == CXCursor_DeclRefExpr)
            return cursor_is_static(clang_getCursorReferenced(c)) ? HOME_ELSEWHERE : HOME_LOCAL;
        if (list.count == 0 || (kind != CXCursor_MemberRefExpr && kind != CXCursor_UnaryOperator &&
                                kind != CXCursor_ArraySubscriptExpr))
            return HOME_LOCAL;
        c = flow_operand(list.at[0]);
        if (!flow_is_address(c))
            continue;
        c = moved_pointer(c);
        if (clang_getCursorKind(c) == CXCursor_DeclRefExpr) {
            home_t home = pointer_home(clang_getCursorReferenced(c));
            return loaded && home == HOME_PARAMETER ? HOME_ELSEWHERE : home;
        }
        loaded = true;
    }
}

home_t home_of_number(const place_t *at, CXCursor *where)
{
    for (at = at->up; at->up; at = at->up) {
        CXCursor parent = at->up->cursor;
        enum CXCursorKind kind = clang_getCursorKind(parent);
        if (kind == CXCursor_BinaryOperator &&
            clang_getCursorBinaryOperatorKind(parent) == CXBinaryOperator_Assign) {
            *where = parent;
            return at->number == 1 ? home_find(cursor_first_child(parent)) : HOME_LOCAL;
        }
        if (kind != CXCursor_ParenExpr && kind != CXCursor_UnexposedExpr &&
            kind != CXCursor_CStyleCastExpr && kind != CXCursor_BinaryOperator &&
            kind != CXCursor_CXXStaticCastExpr)
            return HOME_LOCAL;
    }
    return HOME_LOCAL;
}
