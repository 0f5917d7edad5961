/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions of plain functions that are others in chunks than in one call. */
#include "analyze/thrown.h"

#include <stddef.h>
#include <stdint.h>

#include "analyze/carried_value.h"
#include "analyze/check_argument.h"
#include "ir/load.h"

static const char bounds[] =
    "throws what it computes from where its chunk begins or ends; pass the bounds of the whole "
    "range as well, as parameters that rebase does not name";

/* Why the exception is another one in a chunk; NULL: no reason is seen. */
static const char *difference(const comparison_t *c, const ir_throw_t *t)
{
    const bool knows_bounds = carried_has_bound(c, t->computed_from, false);
    const bool is_anew =
        carried_any_along(c, t->carried) ||
        (t->period > 0 && carried_any_along(c, t->repeated) && carried_breaks(c, t->period));
    if (is_anew && !knows_bounds && carried_has_bound(c, ~0ULL, false))
        return bounds;
    if (is_anew && !knows_bounds)
        return "throws what it computes from its own index, or from what its loop carries, and "
               "that begins anew in each chunk; tell it the bounds, as in rebase(lo: begin(i), "
               "hi: end(i)), or call it without the pragma";
    if (carried_has_bound(c, t->computed_from, true))
        return "throws what it computes from its length, which is another one in chunks; pass it a "
               "second time, as a parameter that rebase does not name";
    if (t->is_number && knows_bounds)
        return bounds;
    return NULL;
}

bool check_thrown(unit_t *u, directive_t *d)
{
    const ir_function_t *f = d->target_count == 1 && d->rebase_count
                                 ? ir_plain_function_of(u->main, d->target[0].instance)
                                 : NULL;
    const comparison_t c = {.u = u, .d = d, .f = f};
    for (int k = 0; f && f->param_count == d->argument_count && k < f->thrown_count; k++) {
        const ir_throw_t *t = &f->thrown[k];
        const char *why = difference(&c, t);
        if (!why)
            continue;
        unit_error(u, d->rebase_begin, d->rebase_end, "'%s' %s", d->callee_name, why);
        check_note_at(u, t->file, t->line, t->column, "it throws it here");
        return false;
    }
    return true;
}
