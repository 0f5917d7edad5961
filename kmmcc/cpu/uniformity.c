/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is the same for all threads of a block. It is assumed of every variable that could be, and
 * taken back until nothing contradicts: a contradiction is an initializer or an assigned value that
 * varies, or an assignment that only some threads reach.
 */
#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "clang/cursor.h"
#include "cpu/split.h"

static uniformity_t worse(uniformity_t a, uniformity_t b)
{
    return a > b ? a : b;
}

static uniformity_t uniformity_of_children(const body_tree_t *b, const node_t *n)
{
    uniformity_t v = UNIFORM;
    for (const node_t *c = n->child; c; c = c->next)
        if (clang_isExpression(c->kind))
            v = worse(v, uniformity_of(b, c));
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

/* `block.size()`, `tile.num_threads()`: of the library's groups. */
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
    static const char *const votes[] = {"__syncthreads_or", "__syncthreads_and",
                                        "__syncthreads_count", NULL};
    const char *name = call_name(n);
    if (is_size_of_group(n, name))
        return UNIFORM;
    if (n->collective_name)
        return text_is_one_of(name, votes) ? UNIFORM : DIVERGENT;
    if (!text_is_one_of(name, pure))
        return DIVERGENT;
    uniformity_t v = UNIFORM;
    for (const node_t *c = n->child ? n->child->next : NULL; c; c = c->next)
        if (clang_isExpression(c->kind))
            v = worse(v, uniformity_of(b, c));
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

/* A part of an array of arrays is an address. */
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

/* ---- Statements ---- */

static bool has_changing(const body_tree_t *b, const node_t *n, size_t begin, size_t end)
{
    if (n->kind == CXCursor_DeclRefExpr && n->variable)
        for (int k = 0; k < n->variable->change_count; k++)
            if (n->variable->change[k]->begin >= begin && n->variable->change[k]->begin < end)
                return true;
    for (const node_t *c = n->child; c; c = c->next)
        if (has_changing(b, c, begin, end))
            return true;
    return false;
}

static bool is_uniform_branch(body_tree_t *b, const node_t *n)
{
    parts_t p;
    return parts_of(b, n, &p) && (!p.condition || uniformity_of(b, p.condition) == UNIFORM);
}

/* Whether all threads that are in the function and its loops come to the statement together, in a
 * part of it that is the block's. */
static bool is_reached_by_all(body_tree_t *b, const node_t *n)
{
    for (const node_t *p = n->parent; p; p = p->parent) {
        if (!p->has_collective)
            return false;
        if (p->kind == CXCursor_CompoundStmt)
            continue;
        if ((p->kind != CXCursor_IfStmt && !tree_is_loop(p)) || !is_uniform_branch(b, p))
            return false;
    }
    return true;
}

/* Whether the change is a statement of its own, or stands in the increment of a loop of the block.
 */
static const node_t *changing_statement(body_tree_t *b, const node_t *change, bool *increments)
{
    const node_t *n = change;
    parts_t parts;
    while (n->parent &&
           (n->parent->kind == CXCursor_UnexposedExpr || n->parent->kind == CXCursor_ParenExpr))
        n = n->parent;
    const node_t *p = n->parent;
    *increments = false;
    if (p && (p->kind == CXCursor_CompoundStmt || p->kind == CXCursor_IfStmt)) {
        if (p->kind == CXCursor_IfStmt && (!parts_of(b, p, &parts) || parts.condition == n))
            return NULL;
        return n;
    }
    while (p && p->kind == CXCursor_BinaryOperator &&
           clang_getCursorBinaryOperatorKind(p->cursor) == CXBinaryOperator_Comma) {
        n = p;
        p = p->parent;
    }
    if (!p || !tree_is_loop(p) || !parts_of(b, p, &parts))
        return NULL;
    *increments = parts.increment == n;
    if (parts.increment == n || parts.initial == n || parts.first == n)
        return n;
    return NULL;
}

static bool is_left_early_around(const node_t *n, const variable_t *v, bool increments)
{
    const node_t *loop = n->parent;
    for (const node_t *p = n->parent; p && p != v->scope; p = p->parent)
        if (p->is_left_early)
            return true;
    if (!increments && v->scope && v->scope->is_left_early) {
        while (loop && loop != v->scope)
            loop = loop->parent;
        return loop != NULL; /* in the body of the loop whose variable it is */
    }
    return false;
}

static bool is_operand_uniform(const body_tree_t *b, const node_t *change)
{
    return change->kind == CXCursor_UnaryOperator || uniformity_of(b, change->last) == UNIFORM;
}

static bool can_be_uniform(body_tree_t *b, variable_t *v)
{
    if (v->is_parameter && !b->is_kernel)
        return false;
    if (v->is_parameter && !v->escapes && !v->change_count)
        return true;
    if (!v->is_scalar || v->escapes || (!v->is_parameter && !v->scope))
        return false;
    if (v->initializer && uniformity_of(b, v->initializer) != UNIFORM)
        return false;
    if (!v->is_parameter && !is_reached_by_all(b, v->declaration->parent) && v->change_count)
        return false;
    for (int k = 0; k < v->change_count; k++) {
        bool increments;
        const node_t *statement = changing_statement(b, v->change[k], &increments);
        if (!statement || !is_operand_uniform(b, v->change[k]) ||
            !is_reached_by_all(b, statement) || is_left_early_around(statement, v, increments))
            return false;
    }
    return true;
}

/* A jump splits the block if all threads come to it or none. */
static bool find_splitting_jumps(body_tree_t *b, node_t *n)
{
    bool is_divided = false;
    n->is_divided = n->has_collective;
    for (node_t *c = n->child; c; c = c->next)
        is_divided |= find_splitting_jumps(b, c);
    if (n->kind == CXCursor_LambdaExpr)
        return false;
    if (n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt ||
        n->kind == CXCursor_ContinueStmt)
        is_divided = n->kind == CXCursor_ReturnStmt || (n->target && n->target->has_collective);
    else if (n->kind == CXCursor_IfStmt)
        is_divided = is_divided && (n->has_collective || is_uniform_branch(b, n));
    else if (n->kind != CXCursor_CompoundStmt)
        is_divided = is_divided && n->has_collective;
    n->is_divided |= is_divided;
    return n->is_divided;
}

/* A loop is left by some threads when one of its jumps does not split it, or when a condition
 * around the jump varies. */
static void find_loops_left_early(body_tree_t *b, node_t *n)
{
    if (n->target && n->target->has_collective) {
        bool is_divergent = !n->is_divided;
        for (const node_t *p = n->parent; p && p != n->target; p = p->parent)
            is_divergent |= p->is_left_early || !p->is_divided ||
                            ((p->kind == CXCursor_IfStmt || p->kind == CXCursor_SwitchStmt) &&
                             !is_uniform_branch(b, p));
        n->target->is_left_early |= is_divergent;
    }
    for (node_t *c = n->child; c; c = c->next)
        find_loops_left_early(b, c);
}

static void clear_left_early(node_t *n)
{
    n->is_left_early = false;
    for (node_t *c = n->child; c; c = c->next)
        clear_left_early(c);
}

/* Whether something that an expression names is hidden, somewhere in `scope`, by another variable
 * of that name: there the expression's text would mean something else. */
static bool has_hidden(const body_tree_t *b, const node_t *n, const node_t *scope)
{
    const char *name =
        n->kind == CXCursor_DeclRefExpr ? clang_text(clang_getCursorSpelling(n->cursor)) : NULL;
    for (int k = 0; name && k < b->variable_count; k++) {
        const variable_t *other = &b->variable[k];
        if (other != n->variable && !strcmp(other->name, name) && other->declaration &&
            other->declaration->begin >= scope->begin && other->declaration->begin < scope->end)
            return true;
    }
    for (const node_t *c = n->child; c; c = c->next)
        if (has_hidden(b, c, scope))
            return true;
    return false;
}

static bool can_recompute(const body_tree_t *b, const variable_t *v)
{
    if (v->is_parameter || !v->initializer || v->escapes || v->change_count || !v->scope ||
        has_hidden(b, v->initializer, v->scope))
        return false;
    const node_t *e = v->initializer;
    if (v->is_reference) {
        while (e && (e->kind == CXCursor_UnexposedExpr || e->kind == CXCursor_ParenExpr))
            e = e->child;
        if (!e || e->kind != CXCursor_ArraySubscriptExpr ||
            worse(uniformity_of(b, e->child), uniformity_of(b, e->last)) == DIVERGENT)
            return false;
    } else if (!v->is_scalar || uniformity_of(b, e) == DIVERGENT) {
        return false;
    }
    return !has_changing(b, e, v->declaration->begin, v->scope->end);
}

static bool refine(body_tree_t *b)
{
    bool changed = false;
    clear_left_early(b->root);
    find_splitting_jumps(b, b->root);
    find_loops_left_early(b, b->root);
    find_loops_left_early(b, b->root); /* a 'continue' leaves a 'switch' that others have left */
    for (int k = 0; k < b->variable_count; k++) {
        variable_t *v = &b->variable[k];
        if (v->storage == STORAGE_UNIFORM && !can_be_uniform(b, v)) {
            v->storage = can_recompute(b, v) ? STORAGE_RECOMPUTED : STORAGE_THREAD;
            changed = true;
        } else if (v->storage == STORAGE_RECOMPUTED && !can_recompute(b, v)) {
            v->storage = STORAGE_THREAD;
            changed = true;
        }
    }
    return changed;
}

void uniformity_find(body_tree_t *b)
{
    for (int k = 0; k < b->variable_count; k++) {
        variable_t *v = &b->variable[k];
        if (v->storage != STORAGE_SHARED)
            v->storage = v->is_reference ? STORAGE_RECOMPUTED : STORAGE_UNIFORM;
    }
    while (refine(b)) {
    }
}
