/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stored_by_data.h"

#include <stdbool.h>
#include <stddef.h>

#include "analyze/check_argument.h"
#include "base/diag.h"
#include "ir/load.h"

/* True if the value depends on what the function loads. */
static bool is_of_data(const ir_function_t *f, int node)
{
    const ir_node_t *n = &f->node[node];
    if (n->op == IR_DATA)
        return true;
    if (n->op < IR_ADD)
        return false;
    return is_of_data(f, n->a) || (n->op < IR_ZEXT && is_of_data(f, n->b)) ||
           (n->op == IR_SELECT && is_of_data(f, n->c));
}

/* The only store of a plain function through the parameter, if data decides whether an iteration of
 * its loop stores; NULL: it is otherwise, or not known. What the loop also loads tells that the
 * iteration runs. */
static const ir_access_t *store_by_data(const unit_t *u, const directive_t *d, int number)
{
    const ir_function_t *f = d->target_count == 1 && !d->is_kernel
                                 ? ir_plain_function_of(u->main, d->target[0].instance)
                                 : NULL;
    const ir_access_t *store = NULL;
    for (int k = 0; f && k < f->unknown_count; k++)
        if (f->unknown[k].param < 0 || f->unknown[k].param == number)
            return NULL;
    for (int k = 0; f && k < f->access_count; k++) {
        const ir_access_t *a = &f->access[k];
        if (a->param != number || a->kind == IR_READ)
            continue;
        if (store || a->loop < 0 || !is_of_data(f, a->guard))
            return NULL;
        store = a;
    }
    for (int l = store ? store->loop : -1; l >= 0; l = f->loop[l].parent)
        if (f->loop[l].has_breaks ||
            is_of_data(f, f->loop[l].test)) /* the guard is the loop's end */
            return NULL;
    for (int k = 0; store && k < f->access_count; k++)
        if (f->access[k].kind == IR_READ && f->access[k].loop == store->loop &&
            !is_of_data(f, f->access[k].guard))
            return store;
    return NULL;
}

void check_stored_by_data(unit_t *u, const directive_t *d, const item_t *item, int number)
{
    const ir_access_t *store = store_by_data(u, d, number);
    const char *text = unit_words(u, item->begin, item->end);
    if (!store)
        return;
    diag_at(
        SEVERITY_WARNING, u->source, item->begin, item->end,
        "'%s' is only written here, so its old values are not brought, but data decides whether "
        "'%s' stores to it; say update(%s) [-Wkmm-update]",
        text, d->callee_name, text);
    if (store->line)
        check_note_at(u, store->file, store->line, store->column, "it is stored to here");
}
