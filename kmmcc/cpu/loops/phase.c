/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: the statements between two barriers, run by a loop over the threads of a block. A phase
 * begins with the declarations of the variables that it uses; their storage says how.
 */
#include "cpu/loops/phase.h"

#include <string.h>

#include <kmm/host/kmm_flags.h>

#include "base/arena.h"
#include "cpu/loops/axis.h"
#include "cpu/loops/axis_check.h"
#include "cpu/loops/declarator.h"
#include "cpu/loops/edits.h"

enum { MANY_PHASES = 40 };

/* True if the expression may be part of an index or a pointer. */
static bool may_index_memory(const node_t *n)
{
    for (const node_t *p = n->parent; p && !clang_isStatement(p->kind); n = p, p = p->parent)
        if ((p->kind == CXCursor_ArraySubscriptExpr && p->last == n) ||
            p->kind == CXCursor_CallExpr || p->kind == CXCursor_VarDecl ||
            (p->kind == CXCursor_BinaryOperator &&
             clang_getCanonicalType(clang_getCursorType(p->cursor)).kind == CXType_Pointer))
            return true;
    return false;
}

static void phase_bind(emitter_t *e, variable_t *v)
{
    for (int k = 0; k < e->bound_count; k++)
        if (e->bound[k] == v)
            return;
    for (int k = 0; k < e->bound_count; k++)
        if (!strcmp(e->bound[k]->name, v->name)) {
            emitter_fail(e, v->declaration, "two variables of one name are used together");
            return;
        }
    if (e->bound_count == MAX_BOUND)
        emitter_fail(e, v->declaration, "it has too many variables");
    else
        e->bound[e->bound_count++] = v;
}

/* True if `name`, which names the variable, is the target of an assignment, `++` or `--`. */
static bool is_changed_by(const variable_t *v, const node_t *name)
{
    const node_t *p = name->parent;
    while (p && (p->kind == CXCursor_UnexposedExpr || p->kind == CXCursor_ParenExpr))
        p = p->parent;
    for (int k = 0; k < v->change_count; k++)
        if (v->change[k] == p)
            return true;
    return false;
}

void phase_note_uses(emitter_t *e, const node_t *n)
{
    variable_t *v = n->variable;
    if (v && n->kind == CXCursor_DeclRefExpr && v->is_block_level) {
        if (v->storage == STORAGE_RECOMPUTED) {
            e->is_counted |= axis_of_variable(e, v) && axis_may_wrap(e, v) && may_index_memory(n);
            phase_bind(e, v);
            phase_note_uses(e, v->initializer);
        } else if (v->storage == STORAGE_THREAD && v->phase != e->phase_number) {
            if (v->is_binding)
                emitter_fail(e, v->declaration, "a structured binding is used across a barrier");
            v->crosses_phases = true;
            phase_bind(e, v);
            if (is_changed_by(v, n))
                v->changed_in = e->phase_number;
        }
    }
    for (const node_t *c = n->child; c; c = c->next)
        phase_note_uses(e, c);
}

/* True if the variable is a scalar that nothing points to. A phase may copy it, and store it at its
 * end. */
static bool is_at_home(const variable_t *v)
{
    const enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(v->cursor)).kind;
    return kind >= CXType_Char_U && kind <= CXType_LongDouble && !v->escapes && !v->is_pointed_at;
}

/* Declares a recomputed variable in a phase. If it has an axis and does not wrap, its value is that
 * of the block's first thread, kmm__i, plus a number. kmm__small is true at run time if it does not
 * wrap. */
static void add_recomputed(emitter_t *e, const variable_t *v)
{
    const char *axis = axis_of_variable(e, v), *type = declarator_type(e, v);
    const bool is_sure = axis && axis_known(e, v), may_wrap = !is_sure || axis_may_wrap(e, v);
    if (!axis || (may_wrap && !e->is_counted)) {
        text_printf(&e->out, "%s ", declarator_text(e, v));
        return;
    }
    text_printf(&e->out, "const kmm_host_as<%s> %s __attribute__((__unused__)) = ", type, v->name);
    if (!is_sure)
        text_printf(
            &e->out,
            "kmm_host_counted_or(kmm__small, kmm__i%d, (int)threadIdx.%s, [&]() "
            "__attribute__((__always_inline__)) -> kmm_host_as<%s> { kmm_host_as<%s> kmm__value "
            "%s; return kmm__value; }); ",
            v->number, axis, type, type, declarator_suffix(e, v));
    else if (may_wrap)
        text_printf(&e->out, "kmm_host_counted(kmm__small, kmm__i%d, (int)threadIdx.%s); ",
                    v->number, axis);
    else
        text_printf(&e->out, "kmm__i%d + (int)threadIdx.%s; ", v->number, axis);
}

static void add_binding(emitter_t *e, const variable_t *v)
{
    const char *type = declarator_type(e, v);
    if (v->storage == STORAGE_RECOMPUTED)
        add_recomputed(e, v);
    else if (v->changed_in == e->phase_number && is_at_home(v))
        text_printf(&e->out,
                    "kmm_host_home<%s> kmm__h%d(%s[kmm__t]); kmm_host_as<%s> &%s "
                    "__attribute__((__unused__)) = kmm__h%d.kmm_value; ",
                    type, v->number, declarator_values(v), type, v->name, v->number);
    else
        text_printf(&e->out, "%skmm_host_as<%s> &%s __attribute__((__unused__)) = %s[kmm__t]; ",
                    declarator_is_const(v) ? "const " : "", type, v->name, declarator_values(v));
}

void phase_open(emitter_t *e)
{
    if (e->is_open)
        return;
    e->is_open = true;
    e->phase_number++;
    e->phase = e->generic = (text_t){0};
    e->bound_count = 0;
    e->changes_state = false;
    e->is_independent = !e->s->flags;
    e->is_short = e->is_counted = e->has_exact = false;
    e->has_stored = e->has_strides = e->reads_after_store = false;
    e->limits = NULL;
    e->counter = NULL;
}

/* Returns arguments of a counted loop: a condition that is true if no variable of the phase with an
 * axis wraps in this block, and the lambda. */
static const char *small_text(const emitter_t *e)
{
    text_t out = {0};
    text_printf(&out, ", %s", e->has_exact ? "kmm__exact" : "true");
    if (e->counter)
        text_printf(&out, " && kmm_host_is_small(kmm__i%d, kmm__e.x)", e->counter->number);
    for (int k = 0; k < e->bound_count; k++) {
        const char *axis = axis_may_wrap(e, e->bound[k]) ? axis_of_variable(e, e->bound[k]) : NULL;
        if (axis && !axis_known(e, e->bound[k]))
            text_printf(&out, " && kmm__counts%d", e->bound[k]->number);
        if (axis)
            text_printf(&out, " && kmm_host_is_small(kmm__i%d, kmm__e.%s)", e->bound[k]->number,
                        axis);
    }
    text_printf(&out, ", KMM_HOST_EACH_COUNTED");
    return out.data;
}

/* Returns the flags of the open phase (kmm_flags.h). */
static int phase_flags(const emitter_t *e)
{
    int flags = e->s->flags;
    if (e->is_independent)
        flags |= KMM_HOST_APART;
    else if (e->is_short)
        flags |= KMM_HOST_SHORT;
    if (e->is_independent && e->reads_after_store && e->has_strides)
        flags |= KMM_HOST_CROSSED;
    return flags;
}

/* Writes the call that is the loop over the threads, up to the lambda's `{`. */
static void open_loop(emitter_t *e)
{
    const char *const loop = e->is_masked    ? e->is_counted ? "kmm__b.kmm_each_counted"
                                                             : "kmm__b.kmm_each_active"
                             : e->is_counted ? "kmm_host_each_counted"
                                             : "kmm_host_each",
                      *const far = e->last_phase > MANY_PHASES ? "_far" : "",
                      *const threads = e->limits ? "kmm__p" : "kmm_host_whole(kmm__e)",
                      *const lambda = e->is_counted ? small_text(e) : ", KMM_HOST_EACH";
    const char *flags = arena_printf("%d", phase_flags(e));
    if (e->generic.length && e->is_independent)
        flags = arena_printf("kmm_host_apart_if<%s>(%s)", e->generic.data, flags);
    text_printf(&e->out, "\n%s%s<%s>(kmm__e, %s%s { ", loop, far, flags, threads, lambda);
}

/* Declares the variables in the order of their declarations in the source, since one may use
 * another. */
static void add_bindings(emitter_t *e)
{
    for (int number = 0; number < e->b.variable_count; number++)
        for (int k = 0; k < e->bound_count; k++)
            if (e->bound[k]->number == number)
                add_binding(e, e->bound[k]);
}

void phase_close(emitter_t *e)
{
    if (!e->is_open)
        return;
    e->is_open = false;
    if (e->limits)
        text_printf(&e->out, "\n{ kmm_host_part kmm__p = kmm_host_whole(kmm__e); %s", e->limits);
    open_loop(e);
    if (e->has_exact)
        text_printf(&e->out, "const bool kmm__sure = %skmm__exact; ",
                    e->is_counted ? "kmm__small || " : "");
    add_bindings(e);
    text_add(&e->out, e->phase.data ? e->phase.data : "", e->phase.length);
    text_printf(&e->out, " });%s\n", e->limits ? " }" : "");
    if (e->changes_state)
        text_printf(&e->out, "kmm__b.kmm_update();\n");
}

void phase_change_state(emitter_t *e)
{
    e->changes_state = e->is_masked = true;
}

void phase_add(emitter_t *e, const node_t *n, const char *text)
{
    text_printf(&e->phase, "\n%s\n%s", edits_line(e, n->begin), text);
}
