/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective operations are taken out of the expressions in which they stand: a region in which the
 * threads bring their operands, the operation for all of them, and each thread's result in place of
 * the call.
 */
#include "cpu/loops/hoist.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/token.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/hoist_builtin.h"
#include "cpu/loops/hoist_call.h"
#include "cpu/loops/region.h"
#include "cpu/tree/call.h"

static bool hoist_collective(emitter_t *e, node_t *call, const node_t *whole)
{
    static const char *const votes[] = {"__syncthreads_count", "__syncthreads_and",
                                        "__syncthreads_or", NULL};
    static const char *const predicates[] = {"__ballot_sync", "__any_sync", "__all_sync",
                                             "__activemask", NULL};
    static const char *const values[] = {
        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
        "__match_any_sync",  "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
        "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync", NULL};
    const char *name = call->collective_name;
    if (call->end <= call->begin)
        return emitter_fail(e, whole, "an operation of several threads comes from a macro");
    if (call->collective == COLLECTIVE_FIBERS)
        return emitter_fail(e, call, arena_printf("it calls '%s', which meets at a barrier", name));
    if (e->pass == 2 && !e->is_sized && e->thread_condition && !strncmp(name, "__syncthreads", 13))
        diag_at(SEVERITY_WARNING, e->s->u->source, call->begin, call->begin + strlen(name),
                "only some threads of a block come to this barrier: '%s' depends on nothing but "
                "threadIdx [-Wkmm-barrier]",
                edits_copy_node(e, e->thread_condition));
    if (call_is_barrier(call)) {
        if (tree_stripped(whole) != call)
            return emitter_fail(e, call, "a barrier is no statement of its own");
        region_close(e);
        text_printf(&e->out, "%s\n",
                    !strcmp(name, "__syncwarp") ? ""
                    : e->is_masked              ? "kmm_b.barrier();"
                                                : "");
        return true;
    }
    lexer_t l = lexer_at(e->s->u->source, call->begin, call->end);
    bool is_written = false;
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END && !is_written; t = lex(&l))
        is_written = token_is(e->s->u->source, t, name);
    if (!is_written)
        return emitter_fail(e, call, "an operation of several threads comes from a macro");
    if (call->collective != COLLECTIVE_BUILTIN)
        return hoist_call(e, call);
    if (text_is_one_of(name, votes))
        return hoist_exchange(e, call, "vote");
    if (text_is_one_of(name, predicates))
        return hoist_ballot(e, call);
    if (hoist_is_uniform_shuffle(e, call))
        return hoist_uniform_shuffle(e, call);
    if (text_is_one_of(name, values))
        return hoist_exchange(e, call, NULL);
    if (!strcmp(name, "__match_all_sync"))
        return hoist_match_all(e, call);
    return emitter_fail(e, call, arena_printf("it calls '%s', which meets at a barrier", name));
}

/* `a && b`, `a || b`, `a ? b : c` with operations of several threads behind the first operand:
 * those threads take part for which it says so. */
static bool hoist_choice(emitter_t *e, node_t *n, const node_t *whole)
{
    bool is_or = n->kind == CXCursor_BinaryOperator &&
                 clang_getCursorBinaryOperatorKind(n->cursor) == CXBinaryOperator_LOr;
    node_t *first = n->child, *second = first->next,
           *third = n->kind == CXCursor_ConditionalOperator ? second->next : NULL;
    if (n->end <= n->begin || first->end <= first->begin || second->end <= second->begin ||
        (third && third->end <= third->begin))
        return emitter_fail(e, whole, "an operation of several threads comes from a macro");
    if (third && clang_getCanonicalType(clang_getCursorType(n->cursor)).kind == CXType_Void)
        return emitter_fail(
            e, n, "an operation of several threads depends on a condition in its expression");
    int number = emitter_new_states(e, n), value = e->collective_count++;
    if (third)
        emitter_name_in_block(n);
    const char *type =
        third ? arena_printf("kmm_host_decay<decltype(%s)>", edits_copy_node(e, n)) : "bool";
    text_t head = {0};
    if (!hoist(e, first, whole))
        return false;
    region_open(e);
    region_note_uses(e, first);
    text_printf(&head, "kmm_host_values<%s> kmm_c%d;\n", type, value);
    text_printf(&e->out, "%s", head.data);
    if (third)
        region_add(
            e, n,
            arena_printf("if (!(%s)) kmm_b.state[kmm_t] = %d;", edits_copy_node(e, first), number));
    else
        region_add(e, n,
                   arena_printf("kmm_c%d[kmm_t] = static_cast<bool>(%s); if (%skmm_c%d[kmm_t]) "
                                "kmm_b.state[kmm_t] = %d;",
                                value, edits_copy_node(e, first), is_or ? "" : "!", value, number));
    region_change_state(e);
    region_close(e);
    for (node_t *operand = second; operand; operand = operand == second ? third : NULL) {
        if (operand == third)
            text_printf(&e->out, "kmm_b.turn(%d, %d);\n", number, number + 1);
        text_printf(&e->out, "if (kmm_b.active) {\n");
        if (!hoist(e, operand, whole))
            return false;
        region_open(e);
        region_note_uses(e, operand);
        region_add(e, operand,
                   third ? arena_printf("::new (static_cast<void *>(&kmm_c%d[kmm_t])) %s(%s);",
                                        value, type, edits_copy_node(e, operand))
                         : arena_printf("kmm_c%d[kmm_t] = static_cast<bool>(%s);", value,
                                        edits_copy_node(e, operand)));
        region_close(e);
        text_printf(&e->out, "}\n");
    }
    text_printf(&e->out, "kmm_b.resume(%d);\n", third ? number + 1 : number);
    edits_add(e, n->begin, n->end, arena_printf("kmm_c%d[kmm_t]", value));
    return true;
}

static bool is_choice(const node_t *n)
{
    enum CXBinaryOperatorKind kind = n->kind == CXCursor_BinaryOperator
                                         ? clang_getCursorBinaryOperatorKind(n->cursor)
                                         : CXBinaryOperator_Invalid;
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
