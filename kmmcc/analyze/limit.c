/* SPDX-License-Identifier: Apache-2.0 */
/* Finds pointers that a function only compares. */
#include "analyze/limit.h"

#include <stddef.h>

#include "analyze/flow.h"
#include "clang/cursor.h"

enum { DEEPEST = 8 };

static bool is_mention(CXCursor c, CXCursor variable)
{
    CXCursor inner = flow_operand(c);
    return clang_getCursorKind(inner) == CXCursor_DeclRefExpr &&
           clang_equalCursors(clang_getCursorReferenced(inner), variable);
}

static bool is_parameter(CXCursor c)
{
    return clang_getCursorKind(clang_getCursorReferenced(flow_operand(c))) == CXCursor_ParmDecl;
}

/* True if the comparison tells where an element lies, with `other` on the other side. */
static bool is_limit_of(CXCursor comparison, CXCursor other)
{
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(comparison);
    return (op >= CXBinaryOperator_LT && op <= CXBinaryOperator_GE) ||
           ((op == CXBinaryOperator_EQ || op == CXBinaryOperator_NE) && !is_parameter(other));
}

/* One variable that holds the pointer, in the code of one function. */
typedef struct search {
    CXCursor variable, body;
    int depth;
    bool compares, strays; /* strays: it is used otherwise */
} search_t;

static bool only_limits(CXCursor body, CXCursor variable, int depth);

/* The call hands the pointer to a function that only compares it, too. */
static bool is_handed_on(const search_t *s, CXCursor call)
{
    CXCursor f = clang_getCursorDefinition(clang_getCursorReferenced(call));
    int count = clang_Cursor_getNumArguments(call);
    bool good = !clang_Cursor_isNull(f) && clang_Cursor_getNumArguments(f) == count;
    for (int k = 0; k < count && good; k++)
        if (is_mention(clang_Cursor_getArgument(call, (unsigned)k), s->variable))
            good = only_limits(cursor_body(f), clang_Cursor_getArgument(f, (unsigned)k), s->depth);
    return good;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    search_t *s = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    cursors_t list = cursor_children(c);
    (void)parent;
    if (kind == CXCursor_DeclRefExpr)
        s->strays |= clang_equalCursors(clang_getCursorReferenced(c), s->variable);
    for (int k = 0; k < list.count; k++) {
        if (!is_mention(list.at[k], s->variable) || kind == CXCursor_ParenExpr ||
            kind == CXCursor_UnexposedExpr)
            continue;
        bool good = (kind == CXCursor_BinaryOperator && list.count == 2 &&
                     is_limit_of(c, list.at[1 - k])) ||
                    (kind == CXCursor_VarDecl && only_limits(s->body, c, s->depth)) ||
                    (kind == CXCursor_CallExpr && is_handed_on(s, c));
        s->compares |= good;
        s->strays |= !good;
    }
    if (kind == CXCursor_DeclRefExpr || s->strays)
        return s->strays ? CXChildVisit_Break : CXChildVisit_Continue;
    for (int k = 0; k < list.count && !s->strays; k++)
        if (!is_mention(list.at[k], s->variable))
            visit(list.at[k], c, s);
    return s->strays ? CXChildVisit_Break : CXChildVisit_Continue;
}

static bool only_limits(CXCursor body, CXCursor variable, int depth)
{
    search_t s = {.variable = variable, .body = body, .depth = depth + 1};
    if (depth >= DEEPEST || clang_Cursor_isNull(body) ||
        clang_getCanonicalType(clang_getCursorType(variable)).kind != CXType_Pointer)
        return false;
    clang_visitChildren(body, visit, &s);
    return s.compares && !s.strays;
}

bool limit_is(CXCursor function, int number)
{
    CXCursor f = clang_getCursorDefinition(function);
    if (clang_Cursor_isNull(f) || number >= clang_Cursor_getNumArguments(f))
        return false;
    return only_limits(cursor_body(f), clang_Cursor_getArgument(f, (unsigned)number), 0);
}
