/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes jumps: return, break and continue. A jump out of a phase ends the phase for the thread,
 * and sets the thread's state. A jump that is a statement of the block stays a jump if all threads
 * reach it.
 */
#include "cpu/loops/jump.h"

#include <kmm/host/kmm_flags.h>

#include "base/arena.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/hoist.h"
#include "cpu/loops/phase.h"
#include "cpu/tree/parts.h"

static const char *jump_result(const emitter_t *e, const node_t *jump)
{
    if (!jump->child)
        return "";
    const node_t *value = tree_stripped(jump->child);
    bool is_list = tree_operator(value) == CXBinaryOperator_Comma;
    if (clang_getCanonicalType(clang_getCursorResultType(e->s->function)).kind == CXType_Void)
        return arena_printf("%s; ", edits_copy_node(e, jump->child));
    return arena_printf(is_list ? "kmm__result.kmm_give(kmm__t, (%s)); "
                                : "kmm__result.kmm_give(kmm__t, %s); ",
                        edits_copy_node(e, jump->child));
}

static bool jump_leaves_phase(const node_t *jump)
{
    return jump->kind == CXCursor_ReturnStmt ||
           (jump->target && jump->target->has_collective &&
            (tree_is_loop(jump->target) || jump->target->kind == CXCursor_SwitchStmt));
}

static int jump_state(const emitter_t *e, const node_t *jump)
{
    if (jump->kind == CXCursor_ReturnStmt)
        return e->s->is_kernel ? KMM_HOST_GONE : KMM_HOST_RETURNED;
    return jump->target->number + (jump->kind == CXCursor_ContinueStmt);
}

/* A return in the last phase, outside of loops, needs no state. */
void jump_edit_all(emitter_t *e, const node_t *n)
{
    if (n->kind == CXCursor_LambdaExpr)
        return;
    for (const node_t *c = n->child; c; c = c->next)
        jump_edit_all(e, c);
    bool jumps = n->kind == CXCursor_ReturnStmt || n->kind == CXCursor_BreakStmt ||
                 n->kind == CXCursor_ContinueStmt;
    if (!jumps || !jump_leaves_phase(n))
        return;
    bool ends = n->kind == CXCursor_ReturnStmt && e->pass > 0 && e->phase_number == e->last_phase &&
                e->loop_depth == 0;
    const char *state =
        ends ? "" : arena_printf("kmm__b.kmm_state[kmm__t] = %d; ", jump_state(e, n));
    if (!ends)
        phase_change_state(e);
    edits_add(e, n->begin, parts_end(&e->b, n),
              arena_printf("{ %s%sreturn; }", jump_result(e, n), state));
}

/* A uniform jump stays a jump; in divergent code the active threads get the state of the target. */
void jump_emit(emitter_t *e, node_t *n)
{
    bool returns = n->kind == CXCursor_ReturnStmt;
    if (returns && n->child) {
        if (!hoist(e, n->child, n->child))
            return;
        phase_open(e);
        phase_note_uses(e, n->child);
        phase_add(e, n, jump_result(e, n));
    }
    phase_close(e);
    bool leaves_switch = !returns && n->target->kind == CXCursor_SwitchStmt;
    if (!e->is_divergent && (returns || !n->target->is_left_early)) {
        text_printf(&e->out, "%s\n",
                    returns         ? "return;"
                    : leaves_switch ? arena_printf("goto kmm__end%d;", n->target->number)
                                    : edits_copy(e, n->begin, parts_end(&e->b, n)));
        return;
    }
    e->is_masked = true;
    text_printf(&e->out, "kmm__b.kmm_leave(%d);\n", jump_state(e, n));
}
