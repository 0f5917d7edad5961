/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the storage of each variable. A uniform variable is one variable of the block; one that
 * is cheap to compute is recomputed in each phase; any other has one value for each thread. All
 * variables are assumed to be uniform first. The assumption is taken back where it is contradicted,
 * until nothing contradicts. A contradiction is a divergent initializer or assigned value, or an
 * assignment that only some threads reach.
 */
#include "cpu/tree/storage.h"

#include <string.h>

#include "clang/cursor.h"
#include "cpu/tree/parts.h"
#include "cpu/tree/uniformity.h"

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

/* True if all threads that have not left the function or the loops around reach the statement
 * together, as a statement of the block. */
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

/* Returns the statement of a change: the change itself, or the initializer or increment of a loop
 * that it is in. *increments is true for an increment. NULL if it is part of something else. */
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
    while (p && tree_operator(p) == CXBinaryOperator_Comma) {
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

/* Sets is_divided. A jump divides the statements around it if all threads come to it or none. */
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

/* Sets is_left_early: some threads leave a loop before others if one of its jumps does not divide
 * it, or if a condition around the jump diverges. */
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

/* True if another variable in `scope` has a name that the expression uses: there the expression's
 * text would have another meaning. */
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
            uniformity_worse(uniformity_of(b, e->child), uniformity_of(b, e->last)) == DIVERGENT)
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

void storage_find(body_tree_t *b)
{
    for (int k = 0; k < b->variable_count; k++) {
        variable_t *v = &b->variable[k];
        if (v->storage != STORAGE_SHARED)
            v->storage = v->is_reference ? STORAGE_RECOMPUTED : STORAGE_UNIFORM;
    }
    while (refine(b)) {
    }
}
