/* SPDX-License-Identifier: Apache-2.0 */
/* Values and choices in plain functions that are others in chunks than in one call. */
#include "analyze/carried_value.h"

#include <stddef.h>

#include "analyze/compare_target.h"
#include "analyze/geometry.h"

bool carried_depends_on(const ir_function_t *f, int node, int param)
{
    const ir_node_t *n = &f->node[node];
    if (n->op == IR_PARAM)
        return n->value == param;
    if (n->op <= IR_DATA)
        return false;
    return (n->a >= 0 && carried_depends_on(f, n->a, param)) ||
           (n->b >= 0 && carried_depends_on(f, n->b, param)) ||
           (n->c >= 0 && carried_depends_on(f, n->c, param));
}

bool carried_is_along(const comparison_t *c, int loop)
{
    for (int k = 0; k < c->d->rebase_count; k++) {
        const rebase_t *r = &c->d->rebase[k];
        if (r->kind != REBASE_BEGIN && geometry_splits(c->u, c->d, r->axis) &&
            carried_depends_on(c->f, c->f->loop[loop].test, r->parameter))
            return true;
    }
    return false;
}

bool carried_any_along(const comparison_t *c, uint64_t loops)
{
    for (int l = 0; l < c->f->loop_count && l < 64; l++)
        if ((loops >> l & 1) && carried_is_along(c, l))
            return true;
    return false;
}

bool carried_has_bound(const comparison_t *c, uint64_t params, bool is_length)
{
    for (int k = 0; k < c->d->rebase_count; k++) {
        const rebase_t *r = &c->d->rebase[k];
        if ((r->kind == REBASE_LENGTH) == is_length && r->parameter < 63 &&
            (params >> r->parameter & 1) && geometry_splits(c->u, c->d, r->axis))
            return true;
    }
    return false;
}

static bool has_data(const ir_function_t *f, int node)
{
    const ir_node_t *n = &f->node[node];
    return n->op == IR_DATA || (n->op > IR_DATA && ((n->a >= 0 && has_data(f, n->a)) ||
                                                    (n->b >= 0 && has_data(f, n->b)) ||
                                                    (n->c >= 0 && has_data(f, n->c))));
}

bool carried_is_known(const comparison_t *c, int loop)
{
    return !has_data(c->f, c->f->loop[loop].test);
}

/* True if a bound of the chunk is part of the value. */
static bool knows_bounds(const comparison_t *c, const ir_access_t *a)
{
    for (int k = 0; k < c->d->rebase_count; k++) {
        const rebase_t *r = &c->d->rebase[k];
        int at = r->parameter < 63 ? r->parameter : 63;
        if (r->kind != REBASE_LENGTH && (a->carried_from >> at & 1))
            return true;
    }
    return false;
}

bool carried_breaks(const comparison_t *c, int64_t period)
{
    for (int k = 0; k < c->d->rebase_count; k++) {
        int axis = c->d->rebase[k].axis;
        if (c->d->rebase[k].kind == REBASE_BEGIN || !geometry_splits(c->u, c->d, axis))
            continue;
        if (c->d->chunk_count == 0)
            return true;
        form_t size =
            axis < c->d->chunk_count ? form_of(c->u->source, c->d->chunk[axis]) : (form_t){0};
        if (size.known && size.value % period)
            return true;
    }
    return false;
}

bool carried_has_length(const comparison_t *c, const ir_access_t *a)
{
    for (int k = 0; k < c->d->rebase_count; k++) {
        const rebase_t *r = &c->d->rebase[k];
        if (r->kind == REBASE_LENGTH && r->parameter < 63 && geometry_splits(c->u, c->d, r->axis) &&
            (a->computed_from >> r->parameter & 1))
            return true;
    }
    return false;
}

/* The pointer of an access if an item names it, also where other pointers cannot be followed. */
static const accessed_t *named_target_of(comparison_t *c, const ir_access_t *a)
{
    int64_t base;
    for (int k = 0; k < c->count; k++)
        if (c->target[k].param == a->param && c->target[k].member == a->member)
            for (int i = 0; i < c->d->item_count; i++)
                if (compare_is_of(c, &c->target[k], &c->d->item[i], &base))
                    return &c->target[k];
    return NULL;
}

const ir_access_t *carried_whole(comparison_t *c)
{
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *a = &c->f->access[k];
        const accessed_t *t = compare_target_of(c, a);
        if (!t || compare_is_reduced(c, t))
            continue;
        for (int l = 0; l < c->f->loop_count && l < 64; l++) {
            bool outermost = true;
            for (int up = c->f->loop[l].parent; up >= 0; up = c->f->loop[up].parent)
                outermost &= !carried_is_along(c, up) && carried_is_known(c, up);
            if ((a->whole >> l & 1) && outermost && carried_is_along(c, l))
                return a;
        }
    }
    return NULL;
}

const ir_access_t *carried_value(comparison_t *c)
{
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *a = &c->f->access[k];
        const accessed_t *t = named_target_of(c, a);
        if (!t || compare_is_reduced(c, t) || knows_bounds(c, a))
            continue;
        if (carried_has_length(c, a))
            return a;
        uint64_t anew = a->carried;
        if (a->period > 0 && carried_breaks(c, a->period) &&
            !carried_has_bound(c, a->repeated_from, false))
            anew |= a->repeated;
        for (int l = 0; l < c->f->loop_count && l < 64; l++)
            if ((anew >> l & 1) && carried_is_along(c, l))
                return a;
    }
    return NULL;
}

/* ---- Choices ---- */

/* True if constants and the parameter alone make the node. */
static bool is_of_only(const ir_function_t *f, int node, int param)
{
    const ir_node_t *n = &f->node[node];
    if (n->op == IR_CONST || n->op == IR_PARAM)
        return n->op == IR_CONST || n->value == param;
    return n->op > IR_DATA && (n->a < 0 || is_of_only(f, n->a, param)) &&
           (n->b < 0 || is_of_only(f, n->b, param)) && (n->c < 0 || is_of_only(f, n->c, param));
}

static bool is_threshold(const ir_function_t *f, int node)
{
    const ir_node_t *n = &f->node[node];
    return n->op == IR_CONST && (n->value > 1 || n->value < -1);
}

/* True if the condition compares the parameter with a constant other than -1, 0 and 1, with which
 * functions ask whether there is anything to do. */
static bool compares(const ir_function_t *f, int node, int param)
{
    const ir_node_t *n = &f->node[node];
    const bool is_comparison = n->op >= IR_EQ && n->op <= IR_SLE;
    if (is_comparison && (is_threshold(f, n->a) || is_threshold(f, n->b)))
        return carried_depends_on(f, node, param) && is_of_only(f, node, param);
    /* a called function returns its comparison as an int */
    return n->op > IR_DATA && (n->bits == 1 || n->op == IR_ZEXT) &&
           ((n->a >= 0 && compares(f, n->a, param)) || (n->b >= 0 && compares(f, n->b, param)) ||
            (n->c >= 0 && compares(f, n->c, param)));
}

const ir_access_t *carried_chosen(comparison_t *c)
{
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *a = &c->f->access[k];
        if (a->kind == IR_READ || !compare_target_of(c, a))
            continue;
        for (int i = 0; i < c->d->rebase_count; i++) {
            const rebase_t *r = &c->d->rebase[i];
            if (r->kind == REBASE_LENGTH && geometry_splits(c->u, c->d, r->axis) &&
                compares(c->f, a->guard, r->parameter))
                return a;
        }
    }
    return NULL;
}
