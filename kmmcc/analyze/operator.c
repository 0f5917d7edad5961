/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the operator of each reduction with how the code combines values. */
#include "analyze/operator.h"

#include <stddef.h>

#include "analyze/byteset.h"
#include "analyze/check_section.h"
#include "analyze/compare_target.h"
#include "base/diag.h"

static const char *const word[] = {"", "+", "*", "min", "max", "&", "|", "^"};

/* Of bits 0 and 1, `&` is `&&`, `*` and min, and so on: only what differs for numbers counts. */
static bool is_of(ir_combine_t combine, kmm_op_t op)
{
    switch (combine) {
    case IR_COMBINE_ADD: return op == KMM_OP_ADD || op == KMM_OP_BXOR;
    case IR_COMBINE_MUL: return op == KMM_OP_MUL || op == KMM_OP_LAND || op == KMM_OP_BAND;
    case IR_COMBINE_MIN: return op == KMM_OP_MIN || op == KMM_OP_LAND || op == KMM_OP_BAND;
    case IR_COMBINE_MAX: return op == KMM_OP_MAX || op == KMM_OP_LOR || op == KMM_OP_BOR;
    case IR_COMBINE_AND: return op == KMM_OP_BAND || op == KMM_OP_LAND || op == KMM_OP_MIN;
    case IR_COMBINE_OR: return op == KMM_OP_BOR || op == KMM_OP_LOR || op == KMM_OP_MAX;
    case IR_COMBINE_XOR: return op == KMM_OP_BXOR || op == KMM_OP_ADD;
    default: return true;
    }
}

bool operator_is_beside(comparison_t *c, const accessed_t *t, const ir_access_t *a,
                        const item_t *item, int64_t base)
{
    const ir_node_t *offset = &c->f->node[a->offset];
    const int64_t element = byteset_element(item);
    int64_t shift;
    long long first, count;
    if (offset->op != IR_CONST || element <= 0 || !compare_key(c, t, &shift) ||
        !section_is_fixed(item, &first, &count))
        return false;
    const int64_t at = shift + offset->value - base;
    return at < first * element || at >= (first + count) * element;
}

/* True if the kernel only stores through the pointer. */
static bool only_stores(const comparison_t *c, const ir_access_t *store)
{
    for (const ir_access_t *a = c->f->access; a < c->f->access + c->f->access_count; a++)
        if (a->param == store->param && a->member == store->member && a->kind != IR_WRITE)
            return false;
    return store->kind == IR_WRITE;
}

/* Says that the operator of a kernel's operation on the target is not known. With && and ||, a
 * plain store may be right, and one of 0 may begin a sum. False: it is certainly another one. */
static bool report_unknown(comparison_t *c, const ir_access_t *a, const item_t *item)
{
    const char *text = unit_words(c->u, item->begin, item->end);
    bool is_logical = item->op == KMM_OP_LAND || item->op == KMM_OP_LOR,
         is_group = item->op == KMM_OP_ADD || item->op == KMM_OP_MUL || item->op == KMM_OP_BXOR;
    if (!c->d->is_kernel || (a->kind == IR_WRITE && (is_logical || a->stores_zero)))
        return true;
    bool is_wrong = is_group && only_stores(c, a);
    if (is_wrong)
        unit_error(c->u, item->begin, item->end,
                   "'%s' is reduced here, but '%s' stores to it without combining; launch it "
                   "without the pragma",
                   text, c->d->callee_name);
    else
        diag_at(SEVERITY_WARNING, c->u->source, item->begin, item->end,
                "it is not proven that '%s' combines '%s' by the operator alone; "
                "KMM_CHECK=result compares the result with that of one launch [-Wkmm-reduce]",
                c->d->callee_name, text);
    compare_note(c, a);
    return !is_wrong;
}

/* True if the kernel's operation before this one was of the same pointer and as little known. */
static bool is_said(const comparison_t *c, const ir_access_t *a)
{
    for (const ir_access_t *b = c->f->access; b < a; b++)
        if (b->param == a->param && b->member == a->member && b->kind != IR_READ &&
            b->combine == IR_COMBINE_UNKNOWN && (b->stores_zero || !a->stores_zero) &&
            b->kind == a->kind)
            return true;
    return false;
}

bool operator_check(comparison_t *c)
{
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *a = &c->f->access[k];
        const accessed_t *t = compare_pointer_of(c, a);
        const item_t *item = NULL;
        int64_t base;
        int items = 0;
        if (!t || a->kind == IR_READ)
            continue;
        for (int i = 0; i < c->d->item_count; i++)
            if (compare_is_of(c, t, &c->d->item[i], &base) &&
                !operator_is_beside(c, t, a, &c->d->item[i], base)) {
                item = &c->d->item[i];
                items++;
            }
        if (items != 1 || item->mode != KMM_REDUCE)
            continue;
        if (a->combine == IR_COMBINE_UNKNOWN && !is_said(c, a) && !report_unknown(c, a, item))
            return false;
        if (is_of(a->combine, item->op))
            continue;
        unit_error(c->u, item->begin, item->end,
                   "'%s' is reduced here by another operator than that of '%s'; say reduce(%s: %s)",
                   unit_words(c->u, item->begin, item->end), c->d->callee_name, word[a->combine],
                   unit_words(c->u, item->begin, item->end));
        compare_note(c, a);
        return false;
    }
    return true;
}
