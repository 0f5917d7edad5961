/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The axis of an expression: the dimension of the block, x or y, along which its values are
 * consecutive. The expression is threadIdx.x or threadIdx.y plus a uniform value. CUDA's index
 * arithmetic is unsigned. Compilers do not see that it does not wrap within a block, and would
 * gather elements that are adjacent. A variable with an axis is therefore written as its value for
 * the block's first thread plus a signed number.
 */
#include "cpu/loops/axis.h"

#include <limits.h>
#include <string.h>

#include "clang/cursor.h"
#include "cpu/program/collectives.h"
#include "cpu/tree/extent.h"
#include "cpu/tree/uniformity.h"

bool axis_is_index_type(CXType type)
{
    enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_Int || kind == CXType_UInt || kind == CXType_Long ||
           kind == CXType_ULong || kind == CXType_LongLong || kind == CXType_ULongLong;
}

static bool is_not_negative(const node_t *n)
{
    long long value;
    return extent_evaluate(n->cursor, &value) && value >= 0 && value <= INT_MAX;
}

static bool is_launch_index(const node_t *n)
{
    const node_t *base =
        n->kind == CXCursor_MemberRefExpr && n->child ? tree_stripped(n->child) : NULL;
    return base && base->kind == CXCursor_DeclRefExpr && !base->variable &&
           collectives_is_index_variable(clang_text(clang_getCursorSpelling(base->cursor)));
}

/* True if a 32-bit unsigned value may wrap before it is widened to 64 bits: it is a difference, or
 * a signed number is part of it. Results of other operators than + and - are assumed to be
 * sizes. */
static bool may_wrap(const node_t *n)
{
    const CXType type = clang_getCanonicalType(clang_getCursorType(n->cursor));
    const enum CXBinaryOperatorKind kind = tree_operator(n);
    if (is_launch_index(n) || is_not_negative(n))
        return false;
    if (kind == CXBinaryOperator_Add)
        return may_wrap(n->child) || may_wrap(n->last);
    if (kind != CXBinaryOperator_Invalid)
        return kind == CXBinaryOperator_Sub;
    if (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr ||
        n->kind == CXCursor_CStyleCastExpr)
        return n->child && may_wrap(n->child);
    if (n->kind == CXCursor_DeclRefExpr && n->variable && n->variable->initializer &&
        !n->variable->change_count && type.kind == CXType_UInt)
        return may_wrap(n->variable->initializer);
    return true;
}

static bool widens(const node_t *n)
{
    const CXType type = clang_getCanonicalType(clang_getCursorType(n->cursor));
    return n->child && clang_Type_getSizeOf(type) == 8 &&
           clang_getCanonicalType(clang_getCursorType(n->child->cursor)).kind == CXType_UInt;
}

/* Follows the expression down sums and differences whose other operand is uniform, through
 * variables that are recomputed, to threadIdx.x or threadIdx.y. */
const char *axis_of(const emitter_t *e, const node_t *n)
{
    for (const node_t *inner = tree_stripped(n); n != inner; n = n->child)
        if ((n->kind == CXCursor_CStyleCastExpr &&
             !axis_is_index_type(clang_getCursorType(n->cursor))) ||
            (widens(n) && may_wrap(n->child)))
            return NULL;
    if (!n || !axis_is_index_type(clang_getCursorType(n->cursor)))
        return NULL;
    if (n->kind == CXCursor_DeclRefExpr && n->variable &&
        n->variable->storage == STORAGE_RECOMPUTED && !n->variable->is_reference)
        return axis_of(e, n->variable->initializer);
    if (n->kind == CXCursor_BinaryOperator) {
        enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(n->cursor);
        if ((kind == CXBinaryOperator_Add || kind == CXBinaryOperator_Sub) &&
            uniformity_of(&e->b, n->last) == UNIFORM)
            return axis_of(e, n->child);
        return kind == CXBinaryOperator_Add && uniformity_of(&e->b, n->child) == UNIFORM
                   ? axis_of(e, n->last)
                   : NULL;
    }
    if (n->kind != CXCursor_MemberRefExpr || !n->child)
        return NULL;
    const node_t *base = tree_stripped(n->child);
    const char *member = clang_text(clang_getCursorSpelling(n->cursor));
    bool is_thread = base && base->kind == CXCursor_DeclRefExpr && !base->variable &&
                     !strcmp(clang_text(clang_getCursorSpelling(base->cursor)), "threadIdx");
    return is_thread && !strcmp(member, "x") ? "x" : is_thread && !strcmp(member, "y") ? "y" : NULL;
}

/* The axis of a recomputed variable. References have none, since they are no numbers. */
const char *axis_known(const emitter_t *e, const variable_t *v)
{
    if (v->storage != STORAGE_RECOMPUTED || v->is_reference || !v->initializer ||
        !axis_is_index_type(clang_getCursorType(v->cursor)))
        return NULL;
    return axis_of(e, v->initializer);
}

bool axis_is_unsigned(const variable_t *v)
{
    return clang_getCanonicalType(clang_getCursorType(v->cursor)).kind == CXType_UInt;
}

/* A variable does not wrap within the block if the block's first value is small: then kmm__small is
 * true. */
bool axis_may_wrap(const emitter_t *e, const variable_t *v)
{
    return axis_is_unsigned(v) || !axis_known(e, v);
}
