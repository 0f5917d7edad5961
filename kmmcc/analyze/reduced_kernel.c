/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel does with a reduction's target. A chunk has a copy that begins as the operator's
 * identity, and the copies are combined. So the kernel may only combine values with the target, by
 * this operator, and use none of the target's values otherwise.
 */
#include "analyze/reduced_kernel.h"

#include <stddef.h>

#include "analyze/compare_target.h"
#include "analyze/operator.h"
#include "analyze/reduced.h"
#include "base/diag.h"

static const char *const word[] = {"+", "*",  "min", "max",    "&",     "|",
                                   "^", "&&", "||",  "argmin", "argmax"};

static bool is_real(const item_t *item)
{
    return item->reduced.type == KMM_FLOAT || item->reduced.type == KMM_DOUBLE;
}

/* False: elements of several numbers, or of a format that no instruction combines. */
static bool is_plain_number(const item_t *item)
{
    const kmm_type_t t = item->reduced.type;
    return !item->reduced.is_pair && t != KMM_HALF && t != KMM_BFLOAT16 && t != KMM_COMPLEX_FLOAT &&
           t != KMM_COMPLEX_DOUBLE;
}

/* True if 0 and all other numbers are what counts in the elements. */
static bool is_truth(const item_t *item)
{
    return item->op == KMM_OP_LAND || item->op == KMM_OP_LOR || item->reduced.is_bool;
}

/* True for a store of 0 where atomic operations combine: a sum begins. */
static bool begins_sum(const comparison_t *c, const ir_access_t *store)
{
    for (int k = 0; k < c->f->access_count && store->stores_zero; k++) {
        const ir_access_t *a = &c->f->access[k];
        if (a->kind == IR_ATOMIC && a->param == store->param && a->member == store->member)
            return true;
    }
    return false;
}

/* True if the kernel combines by the operator as far as it is known, but numbers of another kind,
 * such as the bits of real numbers as integers. */
static bool is_of_other_numbers(const ir_access_t *a, const item_t *item, const ir_fold_t *f)
{
    const bool counts = item->op == KMM_OP_ADD || item->op == KMM_OP_MUL;
    return a->kind == IR_ATOMIC && f->is_swap && f->kind == IR_FOLD_RIGHT && counts &&
           is_plain_number(item) && f->is_real != is_real(item);
}

static bool uses_values(const ir_access_t *a, const item_t *item)
{
    const ir_fold_t *f = &a->fold[IR_COMBINE_ADD];
    bool idempotent = item->op != KMM_OP_ADD && item->op != KMM_OP_MUL && item->op != KMM_OP_BXOR;
    return a->kind == IR_ATOMIC && (f->is_read || (f->is_tested && !idempotent));
}

static bool report(comparison_t *c, const ir_access_t *a, const item_t *item)
{
    const ir_combine_t op =
        a->combine != IR_COMBINE_UNKNOWN ? a->combine : reduced_combine_of(item->op);
    const ir_fold_t *f = &a->fold[op];
    const char *name = c->d->callee_name, *text = unit_words(c->u, item->begin, item->end);
    if (uses_values(a, item)) {
        unit_error(c->u, item->begin, item->end,
                   "'%s' is reduced here, but '%s' also uses its values: a chunk has a copy of its "
                   "own, with the values of this chunk alone; launch it without the pragma",
                   text, name);
    } else if (is_plain_number(item) && f->kind == IR_FOLD_OTHER) {
        unit_error(c->u, item->begin, item->end,
                   "'%s' is reduced by %s here, but what '%s' stores is not its old value combined "
                   "by %s with others; combine by an atomic operation, or launch it without the "
                   "pragma",
                   text, word[item->op], name, word[item->op]);
    } else if (is_of_other_numbers(a, item, f)) {
        unit_error(c->u, item->begin, item->end,
                   "'%s' is reduced as elements of another type than those that '%s' combines; "
                   "name it by a pointer of that type",
                   text, name);
    } else if (f->kind != IR_FOLD_RIGHT || (f->is_truth && !is_truth(item)) ||
               (f->is_swap && !is_plain_number(item))) {
        diag_at(SEVERITY_WARNING, c->u->source, item->begin, item->end,
                "it is not proven that '%s' combines '%s' by %s alone; KMM_CHECK=result compares "
                "the results when the program runs [-Wkmm-reduce]",
                name, text, word[item->op]);
        compare_note(c, a);
        return true;
    } else {
        return true;
    }
    compare_note(c, a);
    return false;
}

bool reduced_kernel_check(comparison_t *c)
{
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *a = &c->f->access[k];
        const accessed_t *t = a->fold ? compare_pointer_of(c, a) : NULL;
        const item_t *item = t ? operator_item(c, t, a) : NULL;
        if (item && !begins_sum(c, a) && !report(c, a, item))
            return false;
    }
    return true;
}
