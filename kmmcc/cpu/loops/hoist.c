/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hoists collective operations out of expressions. In one phase the threads store their operands.
 * Then the block runs the operation once for all threads. Each thread's result takes the place of
 * the call.
 */
#include "cpu/loops/hoist.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/token.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/hoist_builtin.h"
#include "cpu/loops/hoist_call.h"
#include "cpu/loops/phase.h"
#include "cpu/program/collectives.h"
#include "cpu/tree/call.h"

/* Ends the open phase at a barrier: the phases before and behind it are loops of their own. */
static bool hoist_barrier(emitter_t *e, const node_t *call, const node_t *whole)
{
    if (tree_stripped(whole) != call)
        return emitter_fail(e, call, "a barrier is no statement of its own");
    phase_close(e);
    const bool is_block = collectives_builtin(call->collective_name) == BUILTIN_BARRIER;
    text_printf(&e->out, "%s\n", is_block && e->is_masked ? "kmm__b.kmm_barrier();" : "");
    return true;
}

static void warn_of_divergence(const emitter_t *e, const node_t *call)
{
    const char *name = call->collective_name;
    if (e->pass == 2 && !e->is_sized && e->thread_condition && !strncmp(name, "__syncthreads", 13))
        diag_at(SEVERITY_WARNING, e->s->u->source, call->begin, call->begin + strlen(name),
                "only some threads of a block come to this barrier: '%s' depends on nothing but "
                "threadIdx [-Wkmm-barrier]",
                edits_copy_node(e, e->thread_condition));
}

/* True if the call's name is in the source, and not in a macro. */
static bool is_written(const emitter_t *e, const node_t *call)
{
    const source_t *s = e->s->u->source;
    lexer_t l = lexer_within(s, call->begin, call->end);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (token_is(s, t, call->collective_name))
            return true;
    return false;
}

static bool hoist_collective(emitter_t *e, node_t *call, const node_t *whole)
{
    if (call->end <= call->begin)
        return emitter_fail(e, whole, "an operation of several threads comes from a macro");
    if (call->collective == COLLECTIVE_FIBERS)
        return emitter_fail(
            e, call,
            arena_printf("it calls '%s', which meets at a barrier", call->collective_name));
    warn_of_divergence(e, call);
    if (call_is_barrier(call))
        return hoist_barrier(e, call, whole);
    if (!is_written(e, call))
        return emitter_fail(e, call, "an operation of several threads comes from a macro");
    return call->collective == COLLECTIVE_BUILTIN ? hoist_builtin(e, call) : hoist_call(e, call);
}

/* `a && b`, `a || b` or `a ? b : c` with collective operations behind the first operand. The
 * threads that the first operand chooses run these. The other threads have the state `state`
 * meanwhile. */
typedef struct choice {
    node_t *n, *first, *second, *third; /* third: of `?:` */
    int state, value;                   /* value: the number of the values that n has */
    const char *type;
} choice_t;

static bool read_choice(emitter_t *e, node_t *n, const node_t *whole, choice_t *c)
{
    *c = (choice_t){.n = n, .first = n->child, .second = n->child->next};
    c->third = n->kind == CXCursor_ConditionalOperator ? c->second->next : NULL;
    for (const node_t *part = n; part; part = part == n ? c->first : part->next)
        if (part->end <= part->begin)
            return emitter_fail(e, whole, "an operation of several threads comes from a macro");
    if (c->third && clang_getCanonicalType(clang_getCursorType(n->cursor)).kind == CXType_Void)
        return emitter_fail(
            e, n, "an operation of several threads depends on a condition in its expression");
    c->state = emitter_new_states(e, n);
    c->value = e->collective_count++;
    if (c->third)
        emitter_name_in_block(n);
    c->type =
        c->third ? arena_printf("kmm_host_decay<decltype(%s)>", edits_copy_node(e, n)) : "bool";
    return true;
}

static void emit_first_operand(emitter_t *e, const choice_t *c)
{
    const char *text = edits_copy_node(e, c->first);
    const bool is_or =
        !c->third && clang_getCursorBinaryOperatorKind(c->n->cursor) == CXBinaryOperator_LOr;
    phase_open(e);
    phase_note_uses(e, c->first);
    text_printf(&e->out, "kmm_host_values<%s> kmm__c%d;\n", c->type, c->value);
    phase_add(
        e, c->n,
        c->third ? arena_printf("if (!(%s)) kmm__b.kmm_state[kmm__t] = %d;", text, c->state)
                 : arena_printf("kmm__c%d[kmm__t] = static_cast<bool>(%s); if (%skmm__c%d[kmm__t]) "
                                "kmm__b.kmm_state[kmm__t] = %d;",
                                c->value, text, is_or ? "" : "!", c->value, c->state));
    phase_change_state(e);
    phase_close(e);
}

static bool emit_operand(emitter_t *e, const choice_t *c, node_t *operand, const node_t *whole)
{
    text_printf(&e->out, "if (kmm__b.kmm_active) {\n");
    if (!hoist(e, operand, whole))
        return false;
    const char *text = edits_copy_node(e, operand);
    phase_open(e);
    phase_note_uses(e, operand);
    phase_add(e, operand,
              c->third ? arena_printf("::new (static_cast<void *>(&kmm__c%d[kmm__t])) %s(%s);",
                                      c->value, c->type, text)
                       : arena_printf("kmm__c%d[kmm__t] = static_cast<bool>(%s);", c->value, text));
    phase_close(e);
    text_printf(&e->out, "}\n");
    return true;
}

static bool hoist_choice(emitter_t *e, node_t *n, const node_t *whole)
{
    choice_t c;
    if (!read_choice(e, n, whole, &c) || !hoist(e, c.first, whole))
        return false;
    emit_first_operand(e, &c);
    if (!emit_operand(e, &c, c.second, whole))
        return false;
    if (c.third) {
        text_printf(&e->out, "kmm__b.kmm_turn(%d, %d);\n", c.state, c.state + 1);
        if (!emit_operand(e, &c, c.third, whole))
            return false;
    }
    text_printf(&e->out, "kmm__b.kmm_resume(%d);\n", c.third ? c.state + 1 : c.state);
    edits_add(e, n->begin, n->end, arena_printf("kmm__c%d[kmm__t]", c.value));
    return true;
}

static bool is_choice(const node_t *n)
{
    enum CXBinaryOperatorKind kind = tree_operator(n);
    if (n->kind != CXCursor_ConditionalOperator && kind != CXBinaryOperator_LAnd &&
        kind != CXBinaryOperator_LOr)
        return false;
    return n->child && n->child->next &&
           (n->child->next->has_collective ||
            (n->child->next->next && n->child->next->next->has_collective));
}

bool hoist(emitter_t *e, node_t *n, const node_t *whole)
{
    if (!n->has_collective)
        return true;
    if (is_choice(n))
        return hoist_choice(e, n, whole);
    for (node_t *c = n->child; c; c = c->next)
        if (!hoist(e, c, whole))
            return false;
    return !n->collective_name || hoist_collective(e, n, whole);
}
