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

/* True if the operation is certainly on other elements than the item's. */
static bool is_beside(comparison_t *c, const accessed_t *t, const ir_access_t *a,
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

item_t *operator_item(comparison_t *c, const accessed_t *t, const ir_access_t *a)
{
    item_t *first = NULL;
    int64_t base;
    for (int k = 0; k < c->d->item_count; k++) {
        item_t *item = &c->d->item[k];
        if (!compare_is_of(c, t, item, &base) || is_beside(c, t, a, item, base))
            continue;
        if (item->mode != KMM_REDUCE)
            return NULL;
        const bool is_better = a->combine != IR_COMBINE_UNKNOWN && is_of(a->combine, item->op) &&
                               first && !is_of(a->combine, first->op);
        first = !first || is_better ? item : first;
    }
    return first;
}

bool operator_check(comparison_t *c)
{
    for (int k = 0; k < c->f->access_count; k++) {
        const ir_access_t *a = &c->f->access[k];
        const accessed_t *t = compare_pointer_of(c, a);
        const item_t *item = NULL;
        int64_t base;
        int items = 0;
        if (!t || a->kind == IR_READ || a->combine == IR_COMBINE_UNKNOWN)
            continue;
        for (int i = 0; i < c->d->item_count; i++)
            if (compare_is_of(c, t, &c->d->item[i], &base) &&
                !is_beside(c, t, a, &c->d->item[i], base)) {
                item = &c->d->item[i];
                items++;
            }
        if (items != 1 || item->mode != KMM_REDUCE || is_of(a->combine, item->op))
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
