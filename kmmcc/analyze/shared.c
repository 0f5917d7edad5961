/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plain functions put into memory that all of their calls share. That stores to it are atomic,
 * or made under a lock, does not make them the same as those of one call: a chunk's index and
 * length are its own, chunks are calls that the program counts, and they come in any order.
 */
#include "analyze/shared.h"

#include <stddef.h>

#include "analyze/carried_value.h"
#include "analyze/check_argument.h"
#include "base/arena.h"
#include "base/diag.h"
#include "ir/load.h"

/* True if no loop around runs along a split axis, as far as the loops' tests tell. */
static bool is_once(const comparison_t *c, uint64_t around)
{
    for (int l = 0; l < c->f->loop_count && l < 64; l++)
        if ((around >> l & 1) && (carried_is_along(c, l) || !carried_is_known(c, l)))
            return false;
    return true;
}

/* Why chunks store another value than one call; NULL: no reason is seen. */
static const char *difference(const comparison_t *c, const ir_shared_t *s, const ir_fold_t *f)
{
    if (f->kind == IR_FOLD_UNKNOWN || carried_has_bound(c, f->from, false))
        return NULL;
    if (carried_any_along(c, f->indexed) ||
        (f->period > 0 && carried_breaks(c, f->period) && carried_any_along(c, f->repeated)))
        return "changes '%s', which all chunks share, by what it computes from its own index, "
               "which "
               "begins anew in each chunk; tell it the bounds, as in rebase(lo: begin(i), hi: "
               "end(i)), or call it without the pragma";
    if (carried_has_bound(c, f->from, true))
        return "changes '%s', which all chunks share, by what it computes from its length, which "
               "is another one in chunks; pass it a second time, as a parameter that rebase does "
               "not name";
    if (carried_any_along(c, f->placed) && !s->is_slot)
        return "changes the element of '%s' at its own index, which begins anew in each chunk; "
               "make it a parameter that a clause names, or tell it the bounds, as in rebase(lo: "
               "begin(i), hi: end(i))";
    if (f->kind == IR_FOLD_RIGHT || s->is_slot)
        return NULL;
    if (carried_any_along(c, f->over | f->carried))
        return "stores to '%s', which all chunks share, what a loop over all of its range "
               "computes, and a chunk has a part of that range; combine it with the old value, or "
               "call it without the pragma";
    return NULL;
}

/* A store that is right by some operator is right. */
static const char *least_difference(const comparison_t *c, const ir_shared_t *s)
{
    const char *why = NULL;
    for (int k = 0; k < s->fold_count; k++) {
        why = difference(c, s, &s->fold[k]);
        if (!why)
            return NULL;
    }
    return why;
}

static bool counts_calls(const comparison_t *c, const ir_shared_t *s)
{
    if (!s->combines || !s->is_counter || s->is_slot || s->fold_count != 1)
        return false;
    for (int k = 0; k < s->fold->once_count; k++)
        if (is_once(c, s->fold->once[k]))
            return true;
    return false;
}

static void warn(const comparison_t *c, const ir_shared_t *s)
{
    const directive_t *d = c->d;
    if (counts_calls(c, s))
        diag_at(SEVERITY_WARNING, c->u->source, d->rebase_begin, d->rebase_end,
                "'%s' adds to '%s' once in each call, and each chunk is a call; add it after the "
                "launch [-Wkmm-calls]",
                d->callee_name, s->name);
    else if (s->is_slot && !s->combines && !s->is_constant && !s->is_scratch)
        diag_at(SEVERITY_WARNING, c->u->source, d->rebase_begin, d->rebase_end,
                "'%s' stores to places of '%s' that an atomic sum gives out, and chunks run at "
                "once and in any order, so each run has its values in another order [-Wkmm-order]",
                d->callee_name, s->name);
    else if (s->is_number)
        diag_at(SEVERITY_WARNING, c->u->source, d->rebase_begin, d->rebase_end,
                "'%s' stores numbers that an atomic sum gives out, and chunks run at once and in "
                "any order, so each run has other ones [-Wkmm-order]",
                d->callee_name);
    else
        return;
    check_note_at(c->u, s->file, s->line, s->column, "it is stored here");
}

static comparison_t comparison_of(unit_t *u, directive_t *d)
{
    const ir_function_t *f = d->target_count == 1 && d->rebase_count
                                 ? ir_plain_function_of(u->main, d->target[0].instance)
                                 : NULL;
    return (comparison_t){.u = u, .d = d, .f = f};
}

bool shared_is_cleared(unit_t *u, directive_t *d)
{
    const comparison_t c = comparison_of(u, d);
    return c.f && c.f->clears_flags && !carried_any_along(&c, c.f->flags_kept);
}

bool check_shared(unit_t *u, directive_t *d)
{
    const comparison_t c = comparison_of(u, d);
    const ir_function_t *f = c.f;
    bool splits = f && f->param_count == d->argument_count &&
                  (carried_has_bound(&c, ~0ULL, true) || carried_has_bound(&c, ~0ULL, false));
    for (int k = 0; splits && k < f->shared_count; k++) {
        const ir_shared_t *s = &f->shared[k];
        const char *why = s->is_scratch ? NULL : least_difference(&c, s);
        if (!why)
            continue;
        unit_error(u, d->rebase_begin, d->rebase_end, arena_printf("'%%s' %s", why), d->callee_name,
                   s->name);
        check_note_at(u, s->file, s->line, s->column, "it is changed here");
        return false;
    }
    for (int k = 0; splits && k < f->shared_count; k++)
        warn(&c, &f->shared[k]);
    return true;
}
