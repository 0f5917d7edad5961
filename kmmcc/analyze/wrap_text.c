/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions under which what is inferred holds, as clauses. */
#include "analyze/wrap_text.h"

#include <stddef.h>
#include <string.h>

#include "analyze/region_text.h"
#include "base/arena.h"
#include "pragma/directive.h"

enum { MOST_STATED = 32 };

static const char too_many[] = "more indices than clauses can name must fit into their bits";

/* Values that differ by constants alone: the least and the greatest. */
typedef struct stated {
    fit_t least, most;
    unsigned line; /* of an access that needs it */
} stated_t;

typedef struct statement {
    infer_t *f;
    footprint_t *x;
    stated_t at[MOST_STATED];
    int count, texts;
    const char *reason; /* why a condition cannot be a clause; NULL: each can */
} statement_t;

/* The box happens only where the index is below the range that its axis has. */
static bool is_in_range(const statement_t *s, const box_t *b, int atom)
{
    int d = affine_dimension(s->x, atom);
    for (int k = 0; k < b->rest.count && s->f->certain; k++) {
        poly_t coef, rest;
        int64_t by;
        if (!poly_split(b->rest.at[k], atom, &coef, &rest) || !poly_is_constant(coef, &by) ||
            by != -1 || affine_has_index(s->x, rest))
            continue;
        rest = poly_add(rest, poly_constant(1));
        bool used = s->f->used[d];
        const char *text = region_text(s->f, s->x, rest);
        s->f->used[d] = used;
        if (s->f->range[d] && text && !strcmp(s->f->range[d], text))
            return true;
    }
    return false;
}

static bool needs_grid(const statement_t *s, const box_t *b, const fit_t *fit)
{
    for (int a = 0; a < s->x->atom_count; a++)
        if (s->x->atom[a].kind == ATOM_GLOBAL && poly_has(fit->p, a) && !is_in_range(s, b, a))
            return true;
    return fit->in_grid;
}

static void collect(statement_t *s, const box_t *b, fit_t fit)
{
    fit.in_grid = affine_has_index(s->x, fit.p) && needs_grid(s, b, &fit);
    for (int k = 0; k < s->count; k++) {
        stated_t *old = &s->at[k];
        int64_t apart;
        if (old->most.bits != fit.bits || old->most.is_unsigned != fit.is_unsigned ||
            old->most.in_grid != fit.in_grid ||
            !poly_is_constant(poly_sub(fit.p, old->most.p), &apart))
            continue;
        if (apart > 0)
            old->most = fit;
        if (poly_is_constant(poly_sub(fit.p, old->least.p), &apart) && apart < 0)
            old->least = fit;
        return;
    }
    if (s->count == MOST_STATED)
        s->reason = too_many;
    else
        s->at[s->count++] = (stated_t){fit, fit, b->access->line};
}

static void blame(statement_t *s, const stated_t *a, const char *why)
{
    if (!s->reason)
        s->reason = arena_printf("the access in line %u needs a condition that %s", a->line, why);
}

static const char *type_of(const fit_t *fit)
{
    switch (fit->bits) {
    case 8: return fit->is_unsigned ? "uint8" : "int8";
    case 16: return fit->is_unsigned ? "uint16" : "int16";
    case 32: return fit->is_unsigned ? "unsigned" : "int";
    default: return NULL;
    }
}

/* What holds in the whole grid holds in the ranges, too. */
static bool is_implied(const statement_t *s, const fit_t *fit)
{
    for (int k = 0; k < s->count && !fit->in_grid; k++) {
        const stated_t *a = &s->at[k];
        int64_t above, below;
        if (a->most.in_grid && a->most.bits == fit->bits &&
            a->most.is_unsigned == fit->is_unsigned &&
            poly_is_constant(poly_sub(a->most.p, fit->p), &above) &&
            poly_is_constant(poly_sub(fit->p, a->least.p), &below) && above >= 0 && below >= 0)
            return true;
    }
    return false;
}

static void write_clause(statement_t *s, const char *type, bool in_grid, text_t *out)
{
    const char *open = arena_printf(" fits(%s%s: ", type, in_grid ? " grid" : "");
    bool any = false;
    for (int k = 0; k < s->count; k++) {
        const stated_t *a = &s->at[k];
        const char *own = type_of(&a->most);
        if (!own)
            blame(s, a, "is about a number of other bits than clauses can name");
        if (!own || strcmp(own, type) != 0 || a->most.in_grid != in_grid)
            continue;
        bool one = poly_equal(a->least.p, a->most.p);
        for (int i = 0; i < 2 - one; i++) {
            const fit_t *fit = i ? &a->least : &a->most;
            if (is_implied(s, fit))
                continue;
            const char *text = region_text(s->f, s->x, fit->p);
            if (!text)
                blame(s, a, "has a parameter that clauses cannot name");
            if (++s->texts > MAX_FITS && !s->reason)
                s->reason = too_many;
            text_printf(out, "%s%s", any ? ", " : open, text ? text : "0");
            any = true;
        }
    }
    if (any)
        text_printf(out, ")");
}

const char *wrap_text(infer_t *f, footprint_t *x, const bool *wanted, text_t *out)
{
    static const char *const types[] = {"int", "unsigned", "int16", "uint16", "int8", "uint8"};
    statement_t *s = arena_alloc(sizeof(*s));
    *s = (statement_t){.f = f, .x = x};
    for (const box_t *b = x->box; b; b = b->next)
        for (const fit_t *fit = b->fits; fit && wanted[b->access->param]; fit = fit->next)
            collect(s, b, *fit);
    for (int k = 0; k < 6; k++)
        for (int grid = 1; grid >= 0; grid--)
            write_clause(s, types[k], grid, out);
    return s->reason;
}
