/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value of n bits equals its polynomial where the polynomial stays between the least and the
 * greatest number of n bits. It is linear in each index, so it is greatest and least at the ends of
 * the indices: those within blocks and loops are replaced by their ends here, and libkmm does the
 * same for the indices of the grid when the launch happens.
 *
 * Tests and guards are executed by threads that they turn away. So values in guards must fit in
 * the whole grid, and values in the test of a loop also in the iteration after the last.
 */
#include "analyze/wrap.h"

#include <stddef.h>

#include "analyze/affine.h"
#include "base/arena.h"

enum { MOST_ENDS = 32, MOST_THREADS = 1024 };

typedef struct ends {
    poly_t at[MOST_ENDS];
    int count;
    bool in_grid, fails;
} ends_t;

static void add_end(ends_t *e, poly_t p)
{
    for (int k = 0; k < e->count; k++)
        if (poly_equal(e->at[k], p))
            return;
    e->fails |= p.fails || e->count == MOST_ENDS;
    if (!e->fails)
        e->at[e->count++] = p;
}

/* Puts `low` and `high` for the atom. */
static void replace(ends_t *e, int atom, poly_t low, poly_t high)
{
    ends_t out = {.in_grid = e->in_grid, .fails = e->fails};
    for (int k = 0; k < e->count && !out.fails; k++) {
        if (!poly_has(e->at[k], atom)) {
            add_end(&out, e->at[k]);
            continue;
        }
        add_end(&out, poly_substitute(e->at[k], atom, low));
        add_end(&out, poly_substitute(e->at[k], atom, high));
    }
    *e = out;
}

static bool has(const ends_t *e, int atom)
{
    for (int k = 0; k < e->count; k++)
        if (poly_has(e->at[k], atom))
            return true;
    return false;
}

/* ---- Sizes of the grid ---- */

/* Puts an index of the grid for the product of two atoms: it has all values that these have. */
static void replace_product(ends_t *e, int a, int b, poly_t by)
{
    for (int k = 0; k < e->count; k++) {
        poly_t of_a, rest, both, only;
        if (!poly_split(e->at[k], a, &of_a, &rest) || !poly_split(of_a, b, &both, &only)) {
            e->fails = true;
            return;
        }
        if (!both.count)
            continue;
        e->in_grid = true;
        e->at[k] = poly_add(poly_add(rest, poly_mul(only, poly_atom(a))), poly_mul(both, by));
        e->fails |= e->at[k].fails;
    }
}

/* Puts the threads of the grid for its blocks, times the known size of a block. */
static void replace_blocks(const footprint_t *x, ends_t *e, int grid, int d, poly_t threads)
{
    for (int k = 0; k < e->count && x->block[d] > 0; k++) {
        poly_t of_grid, rest, by;
        if (!poly_split(e->at[k], grid, &of_grid, &rest) || !of_grid.count ||
            !poly_divide(of_grid, x->block[d], &by))
            continue;
        e->in_grid = true;
        e->at[k] = poly_add(rest, poly_mul(by, threads));
        e->fails |= e->at[k].fails;
    }
}

static void replace_sizes(footprint_t *x, ends_t *e)
{
    poly_t one = poly_constant(1);
    for (int d = 0; d < 3; d++) {
        int block = affine_atom(x, ATOM_BLOCK, d, false);
        int dim = affine_atom(x, ATOM_BLOCK_DIM, d, false);
        int grid = affine_atom(x, ATOM_GRID_DIM, d, false);
        if (!has(e, dim) && !has(e, grid))
            continue;
        poly_t global = poly_atom(affine_atom(x, ATOM_GLOBAL, d, false));
        replace_product(e, grid, dim, poly_add(global, one));
        replace_blocks(x, e, grid, d, poly_add(global, one));
        replace_product(e, block, dim, global);
        e->in_grid |= has(e, grid);
        replace(e, grid, one, poly_add(poly_atom(block), one));
        replace(e, dim, one, poly_constant(MOST_THREADS));
    }
}

/* ---- Indices within blocks and loops ---- */

/* By how much the index goes further before its loop's test fails. */
static poly_t beyond(footprint_t *x, const fit_t *fit, int atom)
{
    const atom_t *a = &x->atom[atom];
    bool own =
        fit->at == FIT_TEST && fit->loop == (a->kind == ATOM_LOOP ? a->number : a->number / 3);
    if (!own)
        return poly_constant(0);
    if (a->kind == ATOM_LOOP)
        return poly_constant(1);
    int64_t size = x->block[a->number % 3];
    return poly_constant(size > 0 ? size : MOST_THREADS);
}

/* Replaces the index by its ends. */
static void replace_index(footprint_t *x, ends_t *e, const fit_t *fit, const guards_t *g, int atom)
{
    extent_t extent;
    int64_t size = x->block[x->atom[atom].number % 3];
    if (x->atom[atom].kind == ATOM_THREAD) {
        replace(e, atom, poly_constant(0), poly_constant(size > 0 ? size - 1 : MOST_THREADS - 1));
        return;
    }
    box_t of = {.rest = *g};
    if (!affine_extent(x, &of, atom, &extent) || of.assumed_count) {
        e->fails = true;
        return;
    }
    ends_t out = {.in_grid = e->in_grid, .fails = e->fails};
    poly_t further = beyond(x, fit, atom);
    for (int k = 0; k < e->count && !out.fails; k++) {
        poly_t coef, rest, by;
        if (!poly_split(e->at[k], atom, &coef, &rest) || !poly_divide(coef, extent.step, &by)) {
            out.fails = true;
            break;
        }
        add_end(&out, rest);
        if (coef.count)
            add_end(&out,
                    poly_add(poly_add(rest, poly_mul(by, extent.last)), poly_mul(coef, further)));
    }
    *e = out;
}

/* A loop with the grid's stride begins at the thread's index, and its test fails at most a grid
 * behind the last index. */
static void replace_stride(footprint_t *x, ends_t *e, const guards_t *g, int atom)
{
    atom_kind_t first = x->atom[atom].kind == ATOM_PACE ? ATOM_BLOCK : ATOM_GLOBAL;
    poly_t global = poly_atom(affine_atom(x, first, x->atom[atom].number % 3, false));
    for (int k = 0; k < g->count; k++) {
        poly_t coef, rest;
        int64_t by;
        if (!poly_split(g->at[k], atom, &coef, &rest) || !poly_is_constant(coef, &by) || by != -1 ||
            affine_has_index(x, rest))
            continue;
        replace(e, atom, global, poly_add(poly_add(rest, poly_constant(1)), global));
        return;
    }
    e->fails = true;
}

/* Neither a quotient nor a rest is further from 0 than what is divided. */
static void replace_divisions(footprint_t *x, ends_t *e)
{
    for (int k = x->quotient_count - 1; k >= 0; k--) {
        const quotient_t *q = &x->quotient[k];
        poly_t of = q->of, zero = poly_constant(0);
        if (has(e, q->rest))
            replace(e, q->rest, zero, of);
        if (has(e, q->whole))
            replace(e, q->whole, q->is_signed ? poly_scale(of, -1) : zero, of);
    }
}

static void replace_inner(footprint_t *x, ends_t *e, const fit_t *fit, const guards_t *g)
{
    static const atom_kind_t order[] = {ATOM_WALK, ATOM_LOOP, ATOM_THREAD};
    for (int a = 0; a < x->atom_count; a++)
        if (has(e, a) && (x->atom[a].kind == ATOM_PACE ||
                          (x->atom[a].kind == ATOM_STRIDE && fit->at != FIT_PLACE)))
            replace_stride(x, e, g, a);
    for (int k = 0; k < 3; k++)
        for (int number = 3 * x->f->loop_count + 2; number >= 0; number--)
            for (int a = 0; a < x->atom_count && !e->fails; a++)
                if (x->atom[a].kind == order[k] && x->atom[a].number == number && has(e, a))
                    replace_index(x, e, fit, g, a);
}

/* ---- The conditions of one box ---- */

/* It fits whatever the launch is. */
static bool is_certain(const footprint_t *x, const fit_t *fit)
{
    int64_t value, most = (INT64_C(1) << (fit->bits - !fit->is_unsigned)) - 1;
    if (poly_is_constant(fit->p, &value))
        return value <= most && value >= (fit->is_unsigned ? 0 : -most - 1);
    if (fit->p.count != 1 || fit->p.term[0].factors != 1 || fit->p.term[0].coef != 1)
        return false;
    const atom_t *a = &x->atom[fit->p.term[0].factor[0]];
    if (a->kind == ATOM_VALUE)
        return x->f->node[a->number].bits <= fit->bits && a->is_unsigned == fit->is_unsigned;
    return a->kind == ATOM_BLOCK && fit->bits >= 32;
}

static void state(const footprint_t *x, box_t *b, fit_t fit)
{
    if (is_certain(x, &fit))
        return;
    for (const fit_t *k = b->fits; k; k = k->next)
        if (k->bits == fit.bits && k->is_unsigned == fit.is_unsigned && k->in_grid == fit.in_grid &&
            poly_equal(k->p, fit.p))
            return;
    fit_t *new = arena_alloc(sizeof(*new));
    *new = fit;
    new->next = b->fits;
    b->fits = new;
}

/* Clauses and libkmm compute in 64 bits. What is multiplied fits into 32, so that no product or sum
 * of these leaves them. */
static void state_factors(const footprint_t *x, box_t *b, const fit_t *fit)
{
    for (int k = 0; k < fit->p.count; k++) {
        poly_t product = poly_constant(1);
        int values = 0;
        for (int i = 0; i < fit->p.term[k].factors; i++) {
            int atom = fit->p.term[k].factor[i];
            fit_t one = {.p = poly_atom(atom), .bits = 32};
            if (x->atom[atom].kind != ATOM_VALUE)
                continue;
            if (x->f->node[x->atom[atom].number].bits > 32)
                state(x, b, one);
            product = poly_mul(product, one.p);
            one.p = product;
            if (++values > 1)
                state(x, b, one);
        }
    }
}

static bool settle_one(reading_t *r, box_t *b, const fit_t *fit, const guards_t *of_place)
{
    footprint_t *x = r->x;
    guards_t g = fit->at == FIT_PLACE ? *of_place : r->tests;
    ends_t e = {.in_grid = fit->in_grid};
    poly_t p = fit->p;
    affine_fold(x, &p, &g);
    add_end(&e, p);
    replace_divisions(x, &e);
    for (int k = 0; k < e.count; k++)
        affine_fold(x, &e.at[k], &g);
    replace_inner(x, &e, fit, &g);
    replace_sizes(x, &e);
    for (int k = 0; k < e.count && !e.fails; k++) {
        fit_t stated = *fit;
        stated.p = e.at[k];
        stated.in_grid = e.in_grid;
        if (!affine_is_linear(x, stated.p))
            return false;
        state(x, b, stated);
        state_factors(x, b, &stated);
    }
    for (int a = 0; a < x->atom_count; a++)
        e.fails |= has(&e, a) && (x->atom[a].kind >= ATOM_QUOTIENT);
    return !e.fails;
}

bool wrap_settle(reading_t *r, box_t *b)
{
    for (const fit_t *fit = r->fits; fit; fit = fit->next)
        if (!settle_one(r, b, fit, &r->guards))
            return false;
    return true;
}
