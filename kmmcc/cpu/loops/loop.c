/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes loops with barriers in them. A loop of which all threads run the same rounds stays a loop.
 * In any other loop, a thread that has left gets the loop's state, and the loop ends when all
 * threads have left.
 */
#include "cpu/loops/loop.h"

#include "cpu/loops/declaration.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/hoist.h"
#include "cpu/loops/per_thread.h"
#include "cpu/loops/phase.h"
#include "cpu/loops/statement.h"
#include "cpu/tree/parts.h"
#include "cpu/tree/rounds.h"
#include "cpu/tree/uniformity.h"

enum { MAX_UNROLLED = 16 };

static bool is_of_block(const emitter_t *e, const node_t *n)
{
    if (!n)
        return true;
    if (n->kind == CXCursor_DeclStmt)
        return declaration_is_stored(n, STORAGE_UNIFORM) && !n->has_collective;
    const node_t *x = tree_stripped(n);
    if (tree_operator(x) == CXBinaryOperator_Comma)
        return is_of_block(e, x->child) && is_of_block(e, x->last);
    return statement_changes_block(e, n);
}

static void emit_loop_body(emitter_t *e, node_t *loop, node_t *body)
{
    e->loop_depth++;
    e->is_divergent |= loop->is_left_early;
    statement_emit_inner(e, body);
    if (loop->is_left_early)
        text_printf(&e->out, "kmm__b.kmm_resume(%d);\n", loop->number + 1);
}

static void emit_plain_loop(emitter_t *e, node_t *n, const parts_t *p)
{
    text_printf(&e->out, "%s\n", edits_line(e, n->begin));
    for (node_t *c = p->initial ? p->initial->child : NULL; c; c = c->next)
        if (c->variable && c->kind == CXCursor_VarDecl)
            c->variable->is_block_level = true;
    e->gains_by_size = true;
    if (e->is_sized && extent_rounds(n, p, e->s->extent, MAX_UNROLLED))
        text_printf(&e->out, "KMM_HOST_UNROLL ");
    text_printf(&e->out, "%s {\n",
                n->kind == CXCursor_DoStmt ? "do" : edits_copy(e, n->begin, p->close + 1));
    emit_loop_body(e, n, p->first);
    if (e->is_masked)
        text_printf(&e->out, "if (!kmm__b.kmm_active) break;\n");
    text_printf(&e->out, "}");
    if (n->kind == CXCursor_DoStmt)
        text_printf(&e->out, " while (%s);", edits_copy_node(e, p->condition));
    text_printf(&e->out, "\n");
}

/* `if (!condition) break;` */
static void emit_test(emitter_t *e, const node_t *n, node_t *condition)
{
    if (!condition || !hoist(e, condition, condition))
        return;
    if (uniformity_of(&e->b, condition) != UNIFORM) {
        statement_emit_condition(e, condition, n->number);
        text_printf(&e->out, "if (!kmm__b.kmm_active) break;\n");
        return;
    }
    phase_close(e);
    text_printf(&e->out, "if (!(%s)) break;\n", edits_copy_node(e, condition));
}

static void emit_divergent_loop(emitter_t *e, node_t *n, const parts_t *p)
{
    n->is_left_early = true;
    text_printf(&e->out, "{\n");
    if (p->initial)
        statement_emit(e, p->initial);
    phase_close(e);
    text_printf(&e->out, "for (;;) {\n");
    e->is_divergent |= p->condition && uniformity_of(&e->b, p->condition) != UNIFORM;
    if (n->kind != CXCursor_DoStmt)
        emit_test(e, n, p->condition);
    emit_loop_body(e, n, p->first);
    if (p->increment)
        statement_emit_expression(e, p->increment);
    phase_close(e);
    if (n->kind == CXCursor_DoStmt)
        emit_test(e, n, p->condition);
    if (e->is_masked)
        text_printf(&e->out, "if (!kmm__b.kmm_active) break;\n");
    text_printf(&e->out, "}\n}\n");
}

void loop_emit(emitter_t *e, node_t *n)
{
    parts_t p;
    bool outer = e->is_divergent;
    int depth = e->loop_depth;
    if (!per_thread_can_copy(e, n) || !parts_of(&e->b, n, &p))
        return;
    phase_close(e);
    n->number = emitter_new_states(e, n);
    bool plain = is_of_block(e, p.initial) && is_of_block(e, p.increment) &&
                 (!p.condition ||
                  (!p.condition->has_collective && uniformity_of(&e->b, p.condition) == UNIFORM));
    if (plain)
        emit_plain_loop(e, n, &p);
    else
        emit_divergent_loop(e, n, &p);
    if (n->is_left_early)
        text_printf(&e->out, "kmm__b.kmm_resume(%d);\n", n->number);
    e->is_divergent = outer;
    e->loop_depth = depth;
}
