/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds: the threads for which a condition can be true. `i < n` is true for the first n - i0
 * threads along the axis of i, whose value in the block's first thread is i0. The loop over the
 * threads leaves out all others.
 */
#include "cpu/loops/bounds.h"

#include "base/arena.h"
#include "cpu/loops/axis.h"
#include "cpu/loops/axis_check.h"
#include "cpu/loops/edits.h"
#include "cpu/tree/uniformity.h"

static void add_limit(emitter_t *e, bounds_t *b, node_t *thread, node_t *other, const char *axis,
                      enum CXBinaryOperatorKind kind)
{
    const char *pair =
        arena_printf("%s, %s", edits_copy_node(e, thread), edits_copy_node(e, other));
    const variable_t *looked_at = axis_checked_at_run(e, thread);
    emitter_name_in_block(thread);
    if (looked_at) {
        text_printf(&b->limits, "if (kmm__counts%d) { ", looked_at->number);
        text_printf(&b->exact, " && kmm__counts%d", looked_at->number);
    }
    if (kind == CXBinaryOperator_GT || kind == CXBinaryOperator_GE || kind == CXBinaryOperator_EQ)
        text_printf(&b->limits, "kmm__p.kmm_from_%s(kmm_host_from%s(%s, kmm__e.%s)); ", axis,
                    kind == CXBinaryOperator_GT ? "_behind" : "", pair, axis);
    if (kind != CXBinaryOperator_GT && kind != CXBinaryOperator_GE)
        text_printf(&b->limits, "kmm__p.kmm_to_%s(kmm_host_below%s(%s, kmm__e.%s)); ", axis,
                    kind == CXBinaryOperator_LT ? "" : "_or_at", pair, axis);
    text_printf(&b->limits, looked_at ? "} " : "");
    text_printf(&b->exact, " && kmm_host_exact(%s, kmm__e.%s)", pair, axis);
}

static const char *bounded_axis(const emitter_t *e, const node_t *n)
{
    const variable_t *v = axis_checked_at_run(e, n);
    return v ? axis_of_variable(e, v) : axis_of(e, n);
}

static enum CXBinaryOperatorKind negated(enum CXBinaryOperatorKind kind)
{
    switch ((int)kind) {
    case CXBinaryOperator_LT: return CXBinaryOperator_GE;
    case CXBinaryOperator_GE: return CXBinaryOperator_LT;
    case CXBinaryOperator_GT: return CXBinaryOperator_LE;
    case CXBinaryOperator_LE: return CXBinaryOperator_GT;
    case CXBinaryOperator_NE: return CXBinaryOperator_EQ;
    default: return CXBinaryOperator_Invalid;
    }
}

static enum CXBinaryOperatorKind mirrored(enum CXBinaryOperatorKind kind)
{
    switch ((int)kind) {
    case CXBinaryOperator_LT: return CXBinaryOperator_GT;
    case CXBinaryOperator_GE: return CXBinaryOperator_LE;
    case CXBinaryOperator_GT: return CXBinaryOperator_LT;
    case CXBinaryOperator_LE: return CXBinaryOperator_GE;
    default: return kind;
    }
}

/* Adds the limits of a condition, or of its negation if `contrary`. Each term of a conjunction adds
 * its own. A term that does not compare an axis makes the bounds incomplete. */
static void find_bounds(emitter_t *e, const node_t *condition, bool contrary, bounds_t *b)
{
    const node_t *n = tree_stripped(condition);
    enum CXBinaryOperatorKind kind = n ? tree_operator(n) : CXBinaryOperator_Invalid;
    if (kind == (contrary ? CXBinaryOperator_LOr : CXBinaryOperator_LAnd)) {
        find_bounds(e, n->child, contrary, b);
        find_bounds(e, n->last, contrary, b);
        return;
    }
    if (n && n->kind == CXCursor_UnaryOperator &&
        clang_getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_LNot) {
        find_bounds(e, n->child, !contrary, b);
        return;
    }
    kind = contrary ? negated(kind) : kind;
    if (kind >= CXBinaryOperator_LT && kind <= CXBinaryOperator_EQ) {
        const char *left = bounded_axis(e, n->child), *right = bounded_axis(e, n->last);
        if (left && uniformity_of(&e->b, n->last) == UNIFORM && n->last->end > n->last->begin) {
            add_limit(e, b, n->child, n->last, left, kind);
            return;
        }
        if (right && uniformity_of(&e->b, n->child) == UNIFORM && n->child->end > n->child->begin) {
            add_limit(e, b, n->last, n->child, right, mirrored(kind));
            return;
        }
    }
    b->is_complete = false;
}

bool bounds_read(emitter_t *e, const node_t *condition, bool contrary, bounds_t *b)
{
    *b = (bounds_t){.is_complete = true};
    find_bounds(e, condition, contrary, b);
    if (!b->limits.length)
        return false;
    if (b->is_complete)
        text_printf(&b->limits, "const bool kmm__exact __attribute__((__unused__)) = true%s;",
                    b->exact.data);
    return true;
}
