/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the block's statements: compound statements, expressions, and branches with barriers in
 * them. A branch with a uniform condition stays a branch. In a divergent branch, the threads that
 * do not take it get a state.
 */
#include "cpu/loops/statement.h"

#include <string.h>

#include "base/arena.h"
#include "clang/cursor.h"
#include "cpu/loops/declaration.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/hoist.h"
#include "cpu/loops/jump.h"
#include "cpu/loops/loop.h"
#include "cpu/loops/per_thread.h"
#include "cpu/loops/phase.h"
#include "cpu/loops/preprocessor.h"
#include "cpu/loops/strided.h"
#include "cpu/loops/switch.h"
#include "cpu/tree/call.h"
#include "cpu/tree/parts.h"
#include "cpu/tree/uniformity.h"

void statement_emit_children(emitter_t *e, node_t *n)
{
    for (node_t *c = n->child; c; c = c->next) {
        preprocessor_add_definitions(e, preprocessor_end_before(e, c), c->begin);
        statement_emit(e, c);
    }
    phase_close(e);
    preprocessor_add_definitions(e, n->last ? parts_end(&e->b, n->last) : n->begin + 1, n->end - 1);
}

void statement_emit_inner(emitter_t *e, node_t *n)
{
    phase_close(e);
    text_printf(&e->out, "{\n");
    if (n->kind == CXCursor_CompoundStmt)
        statement_emit_children(e, n);
    else
        statement_emit(e, n);
    phase_close(e);
    text_printf(&e->out, "}\n");
}

void statement_emit_condition(emitter_t *e, node_t *condition, int state)
{
    phase_open(e);
    phase_note_uses(e, condition);
    phase_add(e, condition,
              arena_printf("if (!(%s)) kmm__b.kmm_state[kmm__t] = %d;",
                           edits_copy_node(e, condition), state));
    phase_change_state(e);
    phase_close(e);
}

/* True if the expression is made of threadIdx and numbers alone. */
static bool is_of_thread(const node_t *n)
{
    n = tree_stripped(n);
    if (!n || n->kind == CXCursor_IntegerLiteral)
        return n != NULL;
    if (n->kind == CXCursor_DeclRefExpr && n->variable)
        return n->variable->storage == STORAGE_RECOMPUTED && !n->variable->is_reference &&
               is_of_thread(n->variable->initializer);
    if (n->kind == CXCursor_MemberRefExpr && n->child)
        return !strcmp(clang_text(clang_getCursorSpelling(tree_stripped(n->child)->cursor)),
                       "threadIdx");
    return n->kind == CXCursor_BinaryOperator && is_of_thread(n->child) && is_of_thread(n->last);
}

static void emit_divergent_if(emitter_t *e, const parts_t *p, const node_t *n)
{
    int number = emitter_new_states(e, n);
    bool outer = e->is_divergent;
    const node_t *thread_condition = e->thread_condition;
    if (is_of_thread(p->condition))
        e->thread_condition = p->condition;
    statement_emit_condition(e, p->condition, number);
    e->is_divergent = true;
    text_printf(&e->out, "if (kmm__b.kmm_active)\n");
    statement_emit_inner(e, p->first);
    if (p->second) {
        text_printf(&e->out, "kmm__b.kmm_turn(%d, %d);\nif (kmm__b.kmm_active)\n", number,
                    number + 1);
        statement_emit_inner(e, p->second);
    }
    text_printf(&e->out, "kmm__b.kmm_resume(%d);\n", p->second ? number + 1 : number);
    e->is_divergent = outer;
    e->thread_condition = thread_condition;
}

static void emit_if(emitter_t *e, node_t *n)
{
    parts_t p;
    if (!per_thread_can_copy(e, n) || !parts_of(&e->b, n, &p) ||
        !hoist(e, p.condition, p.condition))
        return;
    if (uniformity_of(&e->b, p.condition) != UNIFORM) {
        emit_divergent_if(e, &p, n);
        return;
    }
    phase_close(e);
    text_printf(&e->out, "%s\n%s\n", edits_line(e, n->begin), edits_copy(e, n->begin, p.close + 1));
    statement_emit_inner(e, p.first);
    if (p.second) {
        text_printf(&e->out, "else\n");
        statement_emit_inner(e, p.second);
    }
}

/* True if the expression changes a uniform variable. */
bool statement_changes_block(const emitter_t *e, const node_t *n)
{
    bool found = false;
    for (int k = 0; k < e->b.variable_count; k++) {
        const variable_t *v = &e->b.variable[k];
        for (int i = 0; i < v->change_count && v->storage == STORAGE_UNIFORM; i++)
            for (const node_t *p = v->change[i]; p; p = p->parent)
                found |= p == n;
    }
    return found;
}

void statement_emit_expression(emitter_t *e, node_t *n)
{
    const node_t *x = tree_bare(n);
    if (tree_operator(x) == CXBinaryOperator_Comma) {
        statement_emit_expression(e, x->child);
        statement_emit_expression(e, x->last);
        return;
    }
    if (n->has_collective && !hoist(e, n, n))
        return;
    const node_t *call = tree_stripped(n);
    if (call_is_barrier(call) || call->collective == COLLECTIVE_LIBRARY ||
        call->collective == COLLECTIVE_FUNCTION)
        return;
    if (statement_changes_block(e, n)) {
        phase_close(e);
        text_printf(&e->out, "%s\n%s;\n", edits_line(e, n->begin), edits_copy_node(e, n));
        return;
    }
    per_thread_emit(e, n);
}

void statement_emit(emitter_t *e, node_t *n)
{
    if (e->b.reason || n->kind == CXCursor_NullStmt)
        return;
    if (n->kind == CXCursor_DeclStmt)
        declaration_emit(e, n);
    else if (clang_isExpression(n->kind))
        statement_emit_expression(e, n);
    else if (!n->is_divided) {
        if (!strided_emit(e, n))
            per_thread_emit(e, n);
    } else if (n->kind == CXCursor_CompoundStmt)
        statement_emit_inner(e, n);
    else if (n->kind == CXCursor_IfStmt)
        emit_if(e, n);
    else if (n->kind == CXCursor_SwitchStmt)
        switch_emit(e, n);
    else if (tree_is_loop(n))
        loop_emit(e, n);
    else if (n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt ||
             n->kind == CXCursor_ContinueStmt)
        jump_emit(e, n);
    else
        emitter_fail(e, n, "a barrier stands in a statement that cannot be split");
}
