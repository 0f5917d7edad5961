/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes statements that each thread runs by itself. A statement is added to the open phase. A
 * branch may get a phase of its own, limited to the threads that its condition can choose.
 */
#include "cpu/loops/per_thread.h"

#include "base/arena.h"
#include "cpu/loops/bounds.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/independence.h"
#include "cpu/loops/jump.h"
#include "cpu/loops/memory.h"
#include "cpu/loops/phase.h"
#include "cpu/loops/prefetch.h"
#include "cpu/loops/preprocessor.h"
#include "cpu/tree/parts.h"

bool per_thread_can_copy(emitter_t *e, const node_t *n)
{
    if (n->end <= n->begin)
        return emitter_fail(e, n->parent, "a statement comes from a macro");
    const node_t *p = n->parent;
    for (const node_t *c = p ? p->child : NULL; c && c->next; c = c->next)
        if (p->kind == CXCursor_CompoundStmt && c->next == n && n->begin < c->end)
            return emitter_fail(e, n, "a macro has several statements");
    return preprocessor_is_balanced(e, n, n->begin, parts_end(&e->b, n));
}

static bool is_last(const emitter_t *e, const node_t *n)
{
    return n == e->b.root->last;
}

/* Finds the parts of a branch. If they are not found, the branch is copied whole, so that is no
 * reason not to split. */
static bool find_parts(emitter_t *e, const node_t *n, parts_t *p)
{
    const char *reason = e->b.reason;
    bool found = parts_of(&e->b, n, p);
    e->b.reason = reason;
    return found;
}

/* Writes a branch as a phase of its own, limited to the threads that its condition can choose. In a
 * body without barriers that pays only for the last statement. False if the statement is no such
 * branch. */
static bool emit_bounded(emitter_t *e, const node_t *n)
{
    parts_t p;
    bounds_t bounds;
    if (n->kind != CXCursor_IfStmt || e->is_open || !find_parts(e, n, &p) || p.second ||
        (!e->b.root->has_collective && !is_last(e, n)) || p.first->end <= p.first->begin ||
        !bounds_read(e, p.condition, false, &bounds))
        return false;
    phase_open(e);
    e->gains_by_size |= e->b.root->has_collective;
    e->limits = bounds.limits.data;
    e->has_exact = bounds.is_complete;
    independence_note(e, n);
    independence_note_order(e, n);
    jump_edit_all(e, n);
    phase_note_uses(e, n);
    if (bounds.is_complete)
        phase_add(e, n,
                  arena_printf("if (kmm__sure || (%s))\n%s\n%s", edits_copy_node(e, p.condition),
                               edits_line(e, p.first->begin),
                               edits_copy(e, p.first->begin, parts_end(&e->b, n))));
    else
        phase_add(e, n, edits_copy(e, n->begin, parts_end(&e->b, n)));
    phase_close(e);
    return true;
}

/* Writes `if (i >= n) return;` at the beginning of a body without barriers: it limits the whole
 * phase to the other threads. False if the statement is another one. */
static bool emit_bounded_return(emitter_t *e, const node_t *n)
{
    parts_t p;
    bounds_t bounds;
    bool rest_is_one_phase = e->pass > 0 && e->phase_number + 1 == e->last_phase;
    if (n->kind != CXCursor_IfStmt || e->is_open || !rest_is_one_phase ||
        e->b.root->has_collective || n->parent != e->b.root || !find_parts(e, n, &p) || p.second)
        return false;
    const node_t *inner = p.first->kind == CXCursor_CompoundStmt && p.first->child == p.first->last
                              ? p.first->child
                              : p.first;
    if (!inner || inner->kind != CXCursor_ReturnStmt || inner->child ||
        !bounds_read(e, p.condition, true, &bounds))
        return false;
    phase_open(e);
    e->limits = bounds.limits.data;
    e->has_exact = bounds.is_complete;
    phase_note_uses(e, p.condition);
    phase_add(e, n,
              arena_printf("if (%s(%s)) return;", bounds.is_complete ? "!kmm__sure && " : "",
                           edits_copy_node(e, p.condition)));
    return true;
}

void per_thread_emit(emitter_t *e, const node_t *n)
{
    if (e->b.root->has_collective && e->loop_depth == 0 && e->s->is_kernel && !e->is_masked)
        prefetch_next_block(e, n);
    memory_edit_atomics(e, n);
    if (!per_thread_can_copy(e, n) || emit_bounded(e, n) || emit_bounded_return(e, n))
        return;
    phase_open(e);
    independence_note(e, n);
    independence_note_order(e, n);
    jump_edit_all(e, n);
    phase_note_uses(e, n);
    preprocessor_add_pragmas(e, n);
    phase_add(e, n, edits_copy(e, n->begin, parts_end(&e->b, n)));
    if (!n->parent || n->parent->kind != CXCursor_CompoundStmt)
        text_printf(&e->phase, ";");
}
