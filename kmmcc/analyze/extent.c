/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments whose expression tells how much memory they lead to. */
#include "analyze/extent.h"

#include <stddef.h>

#include "analyze/flow.h"
#include "base/arena.h"
#include "clang/cursor.h"
#include "pragma/expression.h"
#include "pragma/form.h"

/* The operand of &; null: the expression is none such. */
static CXCursor addressed(CXCursor c)
{
    bool address = clang_getCursorKind(c) == CXCursor_UnaryOperator &&
                   clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf;
    return address ? flow_operand(cursor_first_child(c)) : clang_getNullCursor();
}

static bool is_variable(CXCursor c)
{
    CXCursor v = clang_getCursorReferenced(c);
    enum CXCursorKind kind = clang_getCursorKind(v);
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
           (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) &&
           !flow_is_reference(clang_getCursorType(v));
}

bool extent_is_object(CXCursor argument)
{
    CXCursor object = addressed(flow_operand(argument));
    return !clang_Cursor_isNull(object) && is_variable(object) &&
           clang_Type_getSizeOf(clang_getCursorType(object)) > 0;
}

/* N for an array of N elements that is a variable, 1 for &v; 0: it is not known. */
static long long length_of(CXCursor base)
{
    CXCursor c = flow_operand(base);
    if (extent_is_object(base))
        return 1;
    CXType type = clang_getCanonicalType(clang_getCursorType(c));
    return is_variable(c) && type.kind == CXType_ConstantArray ? clang_getArraySize(type) : 0;
}

static expr_t *number(size_t at, long long value)
{
    expr_t *e = arena_alloc(sizeof(*e));
    *e = (expr_t){.kind = EXPR_NUMBER, .begin = at, .end = at, .value = value, .integral = true};
    e->cursor = clang_getNullCursor();
    return e;
}

void extent_add(item_t *item, CXCursor base)
{
    long long length = length_of(base);
    bool rest = item->section_count == 1 && !item->inner_dims && !item->section[0].lower; /* [:] */
    if (length <= 0 || (item->section_count && !rest) || item->shape ||
        item->inner_dims + 1 > KMM_MAX_DIMS)
        return;
    for (int k = 0; k <= item->inner_dims && !rest; k++)
        item->section[k] = (section_t){.begin = item->end, .end = item->end};
    section_t *s = &item->section[0];
    s->lower = number(s->begin, 0);
    s->length = number(s->begin, length);
    s->lower_form.constant = form_number(0);
    s->length_form.constant = form_number(length);
    for (int k = 0; k < KMM_MAX_AXES; k++)
        s->lower_form.coef[k] = s->length_form.coef[k] = form_number(0);
    item->section_count = item->inner_dims + 1;
}

bool extent_is_literal(CXCursor argument)
{
    CXCursor c = flow_operand(argument), object = addressed(c);
    return clang_getCursorKind(clang_Cursor_isNull(object) ? c : object) ==
           CXCursor_CompoundLiteralExpr;
}
