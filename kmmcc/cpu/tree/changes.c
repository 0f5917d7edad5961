/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what changes the variables of a body. Each use of a variable is followed up the tree, to
 * what an operator or call does with it.
 */
#include "cpu/tree/changes.h"

#include "base/arena.h"
#include "cpu/tree/call.h"

static void add_change(variable_t *v, node_t *n)
{
    v->change = arena_grow(v->change, v->change_count, &v->change_capacity, sizeof(*v->change));
    v->change[v->change_count++] = n;
}

/* True if a value of the type may hold an address that it is given. */
static bool may_keep_address(CXType type)
{
    type = clang_getCanonicalType(type);
    CXType element = clang_getCanonicalType(clang_getPointeeType(type));
    if (type.kind == CXType_Pointer || type.kind == CXType_LValueReference)
        return !(element.kind >= CXType_Void && element.kind <= CXType_LongDouble);
    return !(type.kind >= CXType_Void && type.kind <= CXType_LongDouble) &&
           type.kind != CXType_Enum && type.kind != CXType_Half;
}

/* True if a call may keep an address that it is given: in its result, in its object, or through
 * another argument. */
static bool may_keep(const node_t *call, const node_t *argument)
{
    CXType result = clang_getCanonicalType(clang_getCursorType(call->cursor));
    CXCursor function = clang_getCursorReferenced(call->cursor);
    CXType returned = clang_getCanonicalType(clang_getCursorResultType(function));
    bool method = call->child && call->child->kind == CXCursor_MemberRefExpr;
    if (call->collective == COLLECTIVE_FUNCTION || method || result.kind == CXType_Pointer ||
        returned.kind == CXType_LValueReference || may_keep_address(result))
        return true;
    for (const node_t *c = call->child ? call->child->next : NULL; c; c = c->next)
        if (c != argument && clang_isExpression(c->kind) &&
            may_keep_address(clang_getCursorType(c->cursor)))
            return true;
    return false;
}

/* Notes what a call does with the variable that its argument `n` is, or is part of. */
static void find_passed(variable_t *v, const node_t *call, const node_t *n)
{
    passing_t passing = call_passing(call, n);
    v->escapes |= passing == PASSED_UNKNOWN || passing == PASSED_BY_REFERENCE;
    v->is_pointed_at |= passing != PASSED_BY_VALUE && may_keep(call, n);
    if (call->collective == COLLECTIVE_FUNCTION && passing != PASSED_BY_VALUE && !v->is_reference)
        v->is_pointed_at = v->escapes = true;
}

/* True if an address may be used after the phase in which it is taken: a variable or a call may
 * keep it. */
static bool outlives_phase(const node_t *address)
{
    for (const node_t *n = address, *p = n->parent; p; n = p, p = p->parent) {
        enum CXBinaryOperatorKind kind = tree_operator(p);
        if (p->kind == CXCursor_CallExpr && !may_keep(p, n))
            return false;
        if (p->kind == CXCursor_CallExpr || p->kind == CXCursor_VarDecl ||
            p->kind == CXCursor_InitListExpr)
            return true;
        if (kind == CXBinaryOperator_Assign)
            return p->child != n;
        bool is_deref = p->kind == CXCursor_UnaryOperator &&
                        clang_getCursorUnaryOperatorKind(p->cursor) == CXUnaryOperator_Deref;
        if (is_deref || p->kind == CXCursor_ArraySubscriptExpr || clang_isStatement(p->kind))
            return false;
    }
    return false;
}

static void find_change(variable_t *v, node_t *n);

static void find_member(variable_t *v, node_t *member, const node_t *n)
{
    const CXCursor named = clang_getCursorReferenced(member->cursor);
    if (clang_getCursorType(n->cursor).kind == CXType_Pointer)
        return;
    if (clang_getCursorKind(named) == CXCursor_CXXMethod)
        v->escapes |= !clang_CXXMethod_isConst(named);
    else
        find_change(v, member);
}

static void find_unary(variable_t *v, node_t *unary)
{
    const enum CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(unary->cursor);
    if (kind == CXUnaryOperator_PostInc || kind == CXUnaryOperator_PostDec ||
        kind == CXUnaryOperator_PreInc || kind == CXUnaryOperator_PreDec)
        add_change(v, unary);
    else
        v->escapes |= kind == CXUnaryOperator_AddrOf && !v->is_array;
    if (kind == CXUnaryOperator_AddrOf)
        v->is_pointed_at |= outlives_phase(unary);
}

static void find_binary(variable_t *v, node_t *binary, const node_t *n)
{
    const enum CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(binary->cursor);
    const bool is_first = binary->child == n;
    if (is_first && kind == CXBinaryOperator_Assign)
        add_change(v, binary);
    else if (!is_first && kind == CXBinaryOperator_Comma)
        find_change(v, binary);
    else if (is_first && kind == CXBinaryOperator_Shl)
        v->escapes |= v->is_generic; /* it may be a stream */
}

/* Notes what an operator or call does to its operand `n`, which names the variable. */
static void find_change(variable_t *v, node_t *n)
{
    node_t *p = n->parent;
    if (!p)
        return;
    bool first = p->child == n;
    switch ((int)p->kind) {
    case CXCursor_UnexposedExpr:
    case CXCursor_ParenExpr: find_change(v, p); return;
    case CXCursor_MemberRefExpr: find_member(v, p, n); return;
    case CXCursor_ArraySubscriptExpr:
        if (first && v->is_array)
            find_change(v, p);
        return;
    case CXCursor_UnaryOperator: find_unary(v, p); return;
    case CXCursor_BinaryOperator: find_binary(v, p, n); return;
    case CXCursor_CompoundAssignOperator:
        if (first)
            add_change(v, p);
        return;
    case CXCursor_ConditionalOperator:
        if (!first)
            find_change(v, p);
        return;
    case CXCursor_CallExpr: find_passed(v, p, n); return;
    case CXCursor_InitListExpr: /* what is not converted to a value may initialize a reference */
        if (n->kind != CXCursor_UnexposedExpr)
            v->escapes = v->is_pointed_at = true;
        return;
    case CXCursor_VarDecl:
        v->escapes |= is_reference_type(clang_getCursorType(p->cursor)) && !v->is_array;
        return;
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
        v->escapes |= is_reference_type(clang_getCursorType(p->cursor));
        return;
    case CXCursor_ReturnStmt:
    case CXCursor_IfStmt:
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_CompoundStmt:
    case CXCursor_UnaryExpr:
    case CXCursor_CaseStmt:
    case CXCursor_CXXForRangeStmt: return;
    default: v->escapes = true;
    }
}

static node_t *scope_of(node_t *declaration)
{
    node_t *n = declaration->parent;
    while (n && n->kind != CXCursor_CompoundStmt && !tree_is_loop(n) && n->kind != CXCursor_IfStmt)
        n = n->parent;
    return n;
}

bool changes_find(body_tree_t *b, node_t *n)
{
    if (n->kind == CXCursor_DeclRefExpr && n->variable) {
        find_change(n->variable, n);
        n->variable->is_pointed_at |= n->variable->is_array && outlives_phase(n);
    }
    if (n->kind == CXCursor_VarDecl && n->variable) {
        CXCursor initial = clang_Cursor_getVarDeclInitializer(n->cursor);
        n->variable->scope = scope_of(n);
        for (node_t *c = n->child; c; c = c->next)
            if (clang_equalCursors(c->cursor, initial))
                n->variable->initializer = c;
    }
    for (node_t *c = n->child; c; c = c->next)
        if (!changes_find(b, c))
            return false;
    return true;
}
