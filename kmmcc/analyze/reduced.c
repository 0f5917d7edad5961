/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plain function does with a reduction's target. The chunks' copies begin as the operator's
 * identity, and are combined. So the function may only combine values with the target, and chunks
 * must combine the same values as one call for the whole range. Values that depend on the
 * function's own index or length, or that a loop carries from one iteration to the next, are not
 * the same.
 */
#include "analyze/reduced.h"

#include <stddef.h>

#include "analyze/carried_value.h"
#include "analyze/check_section.h"
#include "analyze/compare_target.h"
#include "analyze/geometry.h"
#include "analyze/reduced_kernel.h"
#include "base/diag.h"

static const char *const word[] = {"+", "*",  "min", "max",    "&",     "|",
                                   "^", "&&", "||",  "argmin", "argmax"};

ir_combine_t reduced_combine_of(kmm_op_t op)
{
    switch (op) {
    case KMM_OP_ADD: return IR_COMBINE_ADD;
    case KMM_OP_MUL: return IR_COMBINE_MUL;
    case KMM_OP_MIN:
    case KMM_OP_ARGMIN: return IR_COMBINE_MIN;
    case KMM_OP_MAX:
    case KMM_OP_ARGMAX: return IR_COMBINE_MAX;
    case KMM_OP_BAND:
    case KMM_OP_LAND: return IR_COMBINE_AND;
    case KMM_OP_BXOR: return IR_COMBINE_XOR;
    default: return IR_COMBINE_OR;
    }
}

/* The one item of the pointer's array, if it is reduced; NULL: it is not, or there are several. */
static item_t *item_of(comparison_t *c, const accessed_t *t)
{
    item_t *found = NULL;
    int64_t base;
    int count = 0;
    for (int k = 0; k < c->d->item_count; k++)
        if (compare_is_of(c, t, &c->d->item[k], &base)) {
            found = &c->d->item[k];
            count++;
        }
    return count == 1 && found->mode == KMM_REDUCE ? found : NULL;
}

static bool is_number(const item_t *item)
{
    kmm_type_t t = item->reduced.type;
    return !item->reduced.is_pair && t != KMM_HALF && t != KMM_BFLOAT16 &&
           !((t == KMM_COMPLEX_FLOAT || t == KMM_COMPLEX_DOUBLE) && item->op != KMM_OP_ADD);
}

static bool is_logical(const item_t *item)
{
    return item->op == KMM_OP_LAND || item->op == KMM_OP_LOR;
}

/* True if data may end a loop along a split axis early. */
static bool breaks_along(const comparison_t *c, uint64_t loops)
{
    for (int l = 0; l < c->f->loop_count && l < 64; l++)
        if ((loops >> l & 1) && c->f->loop[l].has_exits && carried_is_along(c, l))
            return true;
    return false;
}

static bool has_bound(const comparison_t *c, uint64_t params, bool is_length)
{
    for (int k = 0; k < c->d->rebase_count; k++) {
        const rebase_t *r = &c->d->rebase[k];
        if ((r->kind == REBASE_LENGTH) == is_length && r->parameter < 63 &&
            (params >> r->parameter & 1) && (!is_length || geometry_splits(c->u, c->d, r->axis)))
            return true;
    }
    return false;
}

/* True if no loop around runs along a split axis, as far as the loops' tests tell. */
static bool is_once(const comparison_t *c, uint64_t around)
{
    for (int l = 0; l < c->f->loop_count && l < 64; l++)
        if ((around >> l & 1) && (carried_is_along(c, l) || !carried_is_known(c, l)))
            return false;
    return true;
}

static bool splits(const comparison_t *c)
{
    for (int k = 0; k < c->d->rebase_count; k++)
        if (geometry_splits(c->u, c->d, c->d->rebase[k].axis))
            return true;
    return false;
}

static bool combines_once(const comparison_t *c, const ir_fold_t *f)
{
    for (int k = 0; k < f->once_count; k++)
        if (is_once(c, f->once[k]))
            return true;
    for (int p = 0; p < c->f->param_count && p < 63; p++)
        if ((f->counted >> p & 1) && !has_bound(c, 1ULL << p, true) &&
            !has_bound(c, 1ULL << p, false))
            return true;
    return false;
}

/* True if chunks get different parts of the item, so that its index begins where they do. */
static bool moves(const comparison_t *c, const item_t *item)
{
    for (int k = 0; k < item->section_count; k++)
        if (item->section[k].lower && section_has_axis(c->d, item->section[k].lower))
            return true;
    return false;
}

/* True if the place at which a value is combined is computed from where the chunk begins. */
static bool is_told(const comparison_t *c, const ir_access_t *a)
{
    for (int k = 0; k < c->d->rebase_count; k++)
        if (c->d->rebase[k].kind == REBASE_BEGIN &&
            carried_depends_on(c->f, a->offset, c->d->rebase[k].parameter))
            return true;
    return false;
}

/* Why chunks combine other values than one call; NULL: no reason is seen. */
static const char *difference(const comparison_t *c, const item_t *item, const ir_access_t *a)
{
    const ir_fold_t *f = &a->fold[reduced_combine_of(item->op)];
    if (has_bound(c, f->from, false))
        return NULL;
    if (carried_any_along(c, f->indexed) ||
        (!moves(c, item) && !is_told(c, a) && carried_any_along(c, f->placed)) ||
        (f->period > 0 && carried_breaks(c, f->period) && carried_any_along(c, f->repeated)))
        return "combines what it computes from its own index, which begins anew in each chunk; "
               "tell it the bounds, as in rebase(lo: begin(i), hi: end(i)), or call it without the "
               "pragma";
    if (has_bound(c, f->from, true) && !is_logical(item))
        return "combines what it computes from its length, which is another one in chunks; pass it "
               "a second time, as a parameter that rebase does not name";
    if (is_logical(item) || !is_number(item))
        return NULL;
    if (carried_any_along(c, f->carried))
        return "combines what its loop carries from one iteration to the next otherwise than by "
               "the operator, and that begins anew in each chunk; call it without the pragma";
    if (combines_once(c, f))
        return "combines a number once in each call, and each chunk is a call; combine it after "
               "the launch";
    return NULL;
}

/* Each number of a product of complex numbers is computed from both of the old value. */
static bool is_complex(const item_t *item)
{
    return item->reduced.type == KMM_COMPLEX_FLOAT || item->reduced.type == KMM_COMPLEX_DOUBLE;
}

static bool report_store(comparison_t *c, const ir_access_t *a, const item_t *item)
{
    const ir_fold_t *f = &a->fold[reduced_combine_of(item->op)];
    const char *name = c->d->callee_name, *text = unit_words(c->u, item->begin, item->end),
               *why = NULL;
    bool is_product = is_complex(item) && item->op == KMM_OP_MUL;
    const bool is_sum = is_number(item) && !item->reduced.is_bool && !is_logical(item),
               ends_early = is_sum && breaks_along(c, f->over),
               is_guess = is_sum && (f->kind == IR_FOLD_UNKNOWN || carried_any_along(c, f->untold));
    if (f->is_read && !is_product)
        unit_error(c->u, item->begin, item->end,
                   "'%s' is reduced here, but '%s' also reads it: a chunk has a copy of its own, "
                   "with the values of this chunk alone; call it without the pragma",
                   text, name);
    else if (is_number(item) && !is_logical(item) && f->kind == IR_FOLD_OTHER)
        unit_error(c->u, item->begin, item->end,
                   "'%s' is reduced by %s here, but what '%s' stores is not its old value combined "
                   "by %s with others; call it without the pragma, or store to a local variable "
                   "and combine that at the end",
                   text, word[item->op], name, word[item->op]);
    else if ((why = difference(c, item, a)) != NULL)
        unit_error(c->u, item->begin, item->end, "'%s' %s", name, why);
    else if (f->is_read || ends_early || is_guess) {
        c->d->is_guessed |= !f->is_read && !ends_early;
        c->d->is_doubted |= f->is_read || ends_early;
        diag_at(SEVERITY_WARNING, c->u->source, item->begin, item->end,
                "it is not proven that '%s' combines '%s' by %s alone; KMM_CHECK=result compares "
                "the result with that of one call [-Wkmm-reduce]",
                name, text, word[item->op]);
        compare_note(c, a);
        return true;
    } else
        return true;
    compare_note(c, a);
    return false;
}

bool reduced_check(comparison_t *c)
{
    if (c->d->is_kernel)
        return reduced_kernel_check(c);
    if (!splits(c))
        return true;
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *a = &c->f->access[k];
        const accessed_t *t = a->fold ? compare_pointer_of(c, a) : NULL;
        item_t *item = t ? item_of(c, t) : NULL;
        if (!item)
            continue;
        if (item->op == KMM_OP_MIN || item->op == KMM_OP_MAX)
            item->reduced.takes_number |= a->fold[reduced_combine_of(item->op)].takes_number != 0;
        if (!report_store(c, a, item))
            return false;
    }
    return true;
}
