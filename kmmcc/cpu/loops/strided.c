/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes strided loops: `for (int i = first + threadIdx.x; i < n; i += stride)` without barriers.
 * The block runs each round for all its threads. So memory is accessed in order, and the compiler
 * can vectorize over the threads.
 */
#include "cpu/loops/strided.h"

#include <string.h>

#include "base/arena.h"
#include "cpu/loops/axis.h"
#include "cpu/loops/axis_check.h"
#include "cpu/loops/declarator.h"
#include "cpu/loops/edits.h"
#include "cpu/loops/independence.h"
#include "cpu/loops/memory.h"
#include "cpu/loops/per_thread.h"
#include "cpu/loops/phase.h"
#include "cpu/loops/prefetch.h"
#include "cpu/tree/parts.h"
#include "cpu/tree/uniformity.h"

enum { MAX_SHORT = 80 };

/* True for a jump out of the loop, or to its next round. */
static bool is_jump(const node_t *n, const void *loop)
{
    return n->kind == CXCursor_ReturnStmt ||
           ((n->kind == CXCursor_BreakStmt || n->kind == CXCursor_ContinueStmt) &&
            n->target == loop);
}

static bool may_loop(const node_t *n, const void *context)
{
    (void)context;
    return tree_is_loop(n) || n->kind == CXCursor_CXXForRangeStmt || n->kind == CXCursor_LambdaExpr;
}

/* Returns the variable of a strided loop; NULL if the loop has another form. *is_sure is true if
 * the variable is known to have the axis x; otherwise that is checked at run time. */
static variable_t *strided_variable(emitter_t *e, const node_t *n, const parts_t *p, bool *is_sure)
{
    const node_t *declaration =
        p->initial && p->initial->kind == CXCursor_DeclStmt ? p->initial->child : NULL;
    const node_t *condition = p->condition ? tree_bare(p->condition) : NULL,
                 *increment = p->increment ? tree_bare(p->increment) : NULL;
    text_t types = {0};
    if (!declaration || declaration != p->initial->last || !declaration->variable || !condition ||
        !increment || declaration->kind != CXCursor_VarDecl)
        return NULL;
    variable_t *v = declaration->variable;
    if (v->escapes || v->is_reference || v->change_count != 1 || v->change[0] != increment ||
        !v->initializer || !axis_may_be_number(clang_getCursorType(v->cursor)))
        return NULL;
    const char *axis =
        axis_is_index_type(clang_getCursorType(v->cursor)) ? axis_of(e, v->initializer) : NULL;
    *is_sure = axis != NULL;
    axis = axis ? axis : axis_possible_of(e, v->initializer, &types);
    bool counts =
        increment->kind == CXCursor_CompoundAssignOperator &&
        clang_getCursorBinaryOperatorKind(increment->cursor) == CXBinaryOperator_AddAssign &&
        uniformity_of(&e->b, increment->last) == UNIFORM;
    bool ends = tree_operator(condition) == CXBinaryOperator_LT &&
                tree_bare(condition->child)->variable == v &&
                uniformity_of(&e->b, condition->last) == UNIFORM;
    return axis && !strcmp(axis, "x") && counts && ends && !tree_any(p->first, is_jump, n) ? v
                                                                                           : NULL;
}

typedef struct strided {
    variable_t *v;
    const char *type, *limit, *stride;
} strided_t;

/* Writes one round of the loop, which is a phase. */
static void emit_round(emitter_t *e, const parts_t *p, const strided_t *l, const char *limits,
                       const char *condition)
{
    text_t ahead = {0};
    prefetch_next_round(e, p->first, l->v, l->stride, &ahead);
    if (ahead.data)
        text_add(&e->out, ahead.data, ahead.length);
    phase_open(e);
    e->limits = limits;
    independence_note(e, p->first);
    independence_note_order(e, p->first);
    e->is_short =
        p->first->end - p->first->begin < MAX_SHORT && !tree_any(p->first, may_loop, NULL);
    e->has_exact = *condition;
    e->counter = l->v;
    e->is_counted =
        axis_is_unsigned(l->v) || !axis_is_index_type(clang_getCursorType(l->v->cursor));
    memory_edit_atomics(e, p->first);
    phase_note_uses(e, p->first);
    phase_note_uses(e, p->condition);
    phase_add(
        e, p->first,
        arena_printf("kmm_host_as<%s> %s = kmm_host_counted(%s, kmm__i%d, (int)threadIdx.x); %s%s",
                     l->type, l->v->name, e->is_counted ? "kmm__small" : "false", l->v->number,
                     condition, edits_copy(e, p->first->begin, parts_end(&e->b, p->first))));
    phase_close(e);
}

/* Writes a loop in which the block runs each round for all its threads. */
static void emit_in_step(emitter_t *e, const node_t *n, const parts_t *p, const strided_t *l)
{
    const int number = l->v->number;
    text_printf(
        &e->out,
        "\n%s\n{ kmm_host_as<%s> kmm__i%d %s; kmm_host_strides kmm__strides%d(kmm__i%d, %s, "
        "%s, kmm__e);\n"
        "for (; kmm__strides%d.kmm_goes_on(kmm__i%d < (%s)); kmm__i%d += (%s)) {\n",
        edits_line(e, n->begin), l->type, number, declarator_suffix(e, l->v), number, number,
        l->limit, l->stride, number, number, l->limit, number, l->stride);
    emit_round(e, p, l,
               arena_printf("const bool kmm__exact = kmm__strides%d.kmm_is_exact; if (kmm__exact) "
                            "kmm__p.kmm_to_x(kmm_host_below(kmm__i%d, %s, kmm__e.x));",
                            number, number, l->limit),
               arena_printf("if (kmm__sure || kmm__strides%d.kmm_runs(kmm__t, %s)) ", number,
                            edits_copy_node(e, p->condition)));
    text_printf(&e->out, "} }\n");
}

/* Writes the same with a check at run time: if the variable has no axis, each thread runs the whole
 * loop by itself. */
static void emit_maybe_in_step(emitter_t *e, node_t *n, const parts_t *p, const strided_t *l)
{
    const int number = l->v->number;
    text_t generic = {0};
    axis_possible_of(e, l->v->initializer, &generic);
    axis_add_dependent(e, tree_bare(p->condition)->last, &generic);
    axis_add_dependent(e, tree_bare(p->increment)->last, &generic);
    const bool is_generic = generic.length || l->v->is_generic;
    const char *types = arena_printf("kmm_host_counts<kmm_host_as<%s>%s>", l->type,
                                     generic.data ? generic.data : "");
    text_printf(
        &e->out,
        "\n{ bool kmm__done%d = false;\n%sif %s(%s::may) {\n%s\nkmm_host_as<%s> kmm__i%d %s;\n"
        "if (%s::kmm_along(kmm__i%d, %s, kmm__e.x) && kmm_host_strides::kmm_is_even(kmm__i%d, %s, "
        "%s, "
        "kmm__e)) "
        "{\nkmm__done%d = true;\n"
        "for (; kmm__i%d < (%s); kmm__i%d += (%s)) {\n",
        number, is_generic ? "#if defined(__cpp_if_constexpr)\n" : "",
        is_generic ? "constexpr " : "", types, edits_line(e, n->begin), l->type, number,
        declarator_suffix(e, l->v), types, number, axis_last_value(e, l->v), number, l->limit,
        l->stride, number, number, l->limit, number, l->stride);
    emit_round(
        e, p, l,
        arena_printf("kmm__p.kmm_to_x(kmm_host_below(kmm__i%d, %s, kmm__e.x));", number, l->limit),
        "");
    text_printf(&e->out, "}\n}\n}\n%sif (!kmm__done%d) {\n", is_generic ? "#endif\n" : "", number);
    per_thread_emit(e, n);
    phase_close(e);
    text_printf(&e->out, "} }\n");
}

bool strided_emit(emitter_t *e, node_t *n)
{
    parts_t p;
    bool is_sure;
    if (n->kind != CXCursor_ForStmt || !per_thread_can_copy(e, n) || !parts_of(&e->b, n, &p))
        return false;
    variable_t *v = strided_variable(e, n, &p, &is_sure);
    if (!v)
        return false;
    const strided_t l = {v, declarator_type(e, v), edits_copy_node(e, tree_bare(p.condition)->last),
                         edits_copy_node(e, tree_bare(p.increment)->last)};
    phase_close(e);
    emitter_name_in_block(v->initializer);
    if (is_sure)
        emit_in_step(e, n, &p, &l);
    else
        emit_maybe_in_step(e, n, &p, &l);
    return true;
}
