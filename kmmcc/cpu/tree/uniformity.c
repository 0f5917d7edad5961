/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out if values are uniform: the same for all threads of a block. The uniformity of an
 * expression follows from the storage of the variables in it, which storage.c chooses.
 */
#include "cpu/tree/uniformity.h"

#include <string.h>

#include "base/text.h"
#include "clang/cursor.h"
#include "cpu/program/collectives.h"
#include "cpu/tree/call.h"

uniformity_t uniformity_worse(uniformity_t a, uniformity_t b)
{
    return a > b ? a : b;
}

static uniformity_t uniformity_of_children(const body_tree_t *b, const node_t *n)
{
    uniformity_t v = UNIFORM;
    for (const node_t *c = n->child; c; c = c->next)
        if (clang_isExpression(c->kind))
            v = uniformity_worse(v, uniformity_of(b, c));
    return v;
}

static bool is_constant_memory(CXCursor c)
{
    CXType type = clang_getCursorType(c);
    return clang_isConstQualifiedType(type) ||
           clang_getCanonicalType(type).kind == CXType_ConstantArray ||
           clang_getCanonicalType(type).kind == CXType_IncompleteArray;
}

static uniformity_t uniformity_of_name(const node_t *n)
{
    CXCursor c = clang_getCursorReferenced(n->cursor);
    const char *name = clang_text(clang_getCursorSpelling(n->cursor));
    enum CXCursorKind kind = clang_getCursorKind(c);
    if (n->variable) {
        variable_t *v = n->variable;
        if (v->storage == STORAGE_SHARED)
            return v->is_array || is_constant_memory(v->cursor) ? UNIFORM : DIVERGENT;
        return v->storage == STORAGE_UNIFORM      ? UNIFORM
               : v->storage == STORAGE_RECOMPUTED ? THREAD_DEPENDENT
                                                  : DIVERGENT;
    }
    if (!strcmp(name, "threadIdx"))
        return THREAD_DEPENDENT;
    if (!strcmp(name, "blockIdx") || !strcmp(name, "blockDim") || !strcmp(name, "gridDim") ||
        !strcmp(name, "warpSize"))
        return UNIFORM;
    if (kind == CXCursor_EnumConstantDecl || kind == CXCursor_NonTypeTemplateParameter)
        return UNIFORM;
    return kind == CXCursor_VarDecl && is_constant_memory(c) ? UNIFORM : DIVERGENT;
}

/* True for `block.size()`, `tile.num_threads()` and their like: sizes of cooperative groups. */
static bool is_size_of_group(const node_t *n, const char *name)
{
    static const char *const sizes[] = {
        "size", "num_threads", "group_dim", "dim_threads", "group_index", "meta_group_size", NULL};
    if (!text_is_one_of(name, sizes))
        return false;
    CXCursor f = clang_getCursorReferenced(n->cursor);
    if (clang_Cursor_isNull(f) || clang_getCursorKind(f) != CXCursor_CXXMethod)
        return false;
    const char *space = clang_text(
        clang_getCursorSpelling(clang_getCursorSemanticParent(clang_getCursorSemanticParent(f))));
    return !strcmp(space, "cooperative_groups");
}

static uniformity_t uniformity_of_call(const body_tree_t *b, const node_t *n)
{
    static const char *const pure[] = {"min",  "max",   "abs",    "fminf", "fmaxf", "fmin",
                                       "fmax", "__ffs", "__popc", "__clz", "log2f", "sqrtf",
                                       "sqrt", "ceilf", "floorf", NULL};
    const char *name = call_name(n);
    if (is_size_of_group(n, name))
        return UNIFORM;
    if (n->collective_name)
        return collectives_builtin(name) == BUILTIN_BLOCK_VOTE ? UNIFORM : DIVERGENT;
    if (!text_is_one_of(name, pure))
        return DIVERGENT;
    uniformity_t v = UNIFORM;
    for (const node_t *c = n->child ? n->child->next : NULL; c; c = c->next)
        if (clang_isExpression(c->kind))
            v = uniformity_worse(v, uniformity_of(b, c));
    return v;
}

static uniformity_t uniformity_of_unary(const body_tree_t *b, const node_t *n)
{
    enum CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(n->cursor);
    if (kind == CXUnaryOperator_Plus || kind == CXUnaryOperator_Minus ||
        kind == CXUnaryOperator_Not || kind == CXUnaryOperator_LNot)
        return uniformity_of_children(b, n);
    const node_t *c = n->child;
    while (c && c->kind == CXCursor_ParenExpr)
        c = c->child;
    if (kind == CXUnaryOperator_AddrOf && c && c->kind == CXCursor_ArraySubscriptExpr)
        return uniformity_of_children(b, c);
    return DIVERGENT;
}

/* An element of an array of arrays is an array, so an address and no load. */
static bool is_address(const node_t *n)
{
    enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(n->cursor)).kind;
    return kind == CXType_ConstantArray || kind == CXType_IncompleteArray;
}

uniformity_t uniformity_of(const body_tree_t *b, const node_t *n)
{
    switch ((int)n->kind) {
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_UnaryExpr:
    case CXCursor_GNUNullExpr: return UNIFORM;
    case CXCursor_DeclRefExpr: return uniformity_of_name(n);
    case CXCursor_MemberRefExpr:
        if (!n->child ||
            clang_getCanonicalType(clang_getCursorType(n->child->cursor)).kind == CXType_Pointer ||
            clang_getCursorKind(clang_getCursorReferenced(n->cursor)) == CXCursor_CXXMethod)
            return DIVERGENT;
        return uniformity_of_children(b, n);
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr:
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXFunctionalCastExpr: return n->child ? uniformity_of_children(b, n) : DIVERGENT;
    case CXCursor_BinaryOperator: {
        enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(n->cursor);
        return kind >= CXBinaryOperator_Assign || kind < CXBinaryOperator_Mul
                   ? DIVERGENT
                   : uniformity_of_children(b, n);
    }
    case CXCursor_ConditionalOperator: return uniformity_of_children(b, n);
    case CXCursor_UnaryOperator: return uniformity_of_unary(b, n);
    case CXCursor_ArraySubscriptExpr:
        return is_address(n) ? uniformity_of_children(b, n) : DIVERGENT;
    case CXCursor_CallExpr: return uniformity_of_call(b, n);
    default: return DIVERGENT;
    }
}
