/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes accesses with gaps, such as A[k * n + i] for all k, as rows and columns: the distance of
 * the gaps is the width of a row. libkmm clips regions to their rows, so a column beyond the end of
 * a row would be lost. Conditions of the launch say that no column lies outside of its row, and
 * that the number of rows is not negative, as it may be for a loop without iterations.
 */
#include "analyze/region_rows.h"

#include <stddef.h>

#include "base/arena.h"

/* ---- Conditions ---- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    return b ? common_divisor(b, a % b) : a;
}

bool region_demand(const footprint_t *x, box_t *b, poly_t p)
{
    int64_t value, by = 0;
    if (p.fails)
        return false;
    if (poly_is_constant(p, &value))
        return value >= 0;
    if (affine_never_negative(x, p))
        return true;
    for (int k = 0; k < p.count; k++)
        by = common_divisor(by, p.term[k].coef);
    fit_t *fit = arena_alloc(sizeof(*fit));
    *fit = (fit_t){.next = b->fits, .bits = 32, .is_unsigned = true, .at = FIT_PLACE};
    b->fits = fit;
    return poly_divide(p, by, &fit->p);
}

/* ---- Rows ---- */

/* The term divided by the term `by`; false: it is no multiple. */
static bool term_divide(poly_term_t term, poly_term_t by, poly_t *out)
{
    if (term.coef % by.coef)
        return false;
    *out = poly_constant(term.coef / by.coef);
    for (int k = 0, i = 0; k < term.factors; k++) {
        if (i < by.factors && term.factor[k] == by.factor[i])
            i++;
        else
            *out = poly_mul(*out, poly_atom(term.factor[k]));
        if (k + 1 == term.factors && i < by.factors)
            return false;
    }
    return term.factors >= by.factors;
}

/* p = width * *row + *column, where *row is as large as the terms show. */
static void split_rows(poly_t p, poly_t width, poly_t *row, poly_t *column)
{
    *row = poly_constant(0);
    *column = p;
    for (int k = 0; k < p.count; k++) {
        poly_t times;
        if (term_divide(p.term[k], width.term[0], &times))
            *row = poly_add(*row, times);
    }
    *column = poly_sub(p, poly_mul(*row, width));
}

/* Where one access begins in its first element, in bytes. */
static int64_t begin_of(const box_t *b, int64_t element)
{
    int64_t first = poly_constant_term(b->base) % element;
    return first < 0 ? first + element : first;
}

/* The bytes of neighbours that all steps but one reach, or all for -1. An access to a part of an
 * element counts as one to the element. False: whole elements are left out. */
static bool run_of(const box_t *b, int but, int64_t element, poly_t *out)
{
    bool used[MOST_STEPS] = {false}, part = begin_of(b, element) + b->bytes <= element;
    if (!part && (begin_of(b, element) || b->bytes % element))
        return false;
    if (but >= 0)
        used[but] = true;
    *out = poly_constant(part ? element : b->bytes);
    for (int done = but >= 0; done < b->steps; done++) {
        int next = -1;
        for (int k = 0; k < b->steps && next < 0; k++)
            if (!used[k] && poly_equal(b->step[k].by, *out))
                next = k;
        if (next < 0)
            return false;
        used[next] = true;
        *out = poly_mul(*out, poly_add(b->step[next].last, poly_constant(1)));
    }
    return !out->fails;
}

bool region_is_run(const box_t *b, int64_t element)
{
    poly_t run;
    return b->dense || (b->stepped && run_of(b, -1, element, &run));
}

static bool rows_of_step(const footprint_t *x, const box_t *b, int step, int64_t element,
                         rows_t *out)
{
    poly_t run, base, first = poly_constant(begin_of(b, element));
    out->whole = b->bytes % element == 0;
    out->rows = poly_add(b->step[step].last, poly_constant(1));
    if (!run_of(b, step, element, &run) || !poly_divide(run, element, &out->columns) ||
        !poly_divide(poly_sub(b->base, first), element, &base) ||
        !poly_divide(b->step[step].by, element, &out->width) || out->width.count != 1)
        return false;
    split_rows(base, out->width, &out->row, &out->column);
    return !out->rows.fails && !out->row.fails && !out->column.fails &&
           !affine_has_index(x, out->rows) && !affine_has_index(x, out->row) &&
           !affine_has_index(x, out->columns);
}

/* The next value of an index is in another row, so a launch of several blocks has no such rows. */
static bool leaves_row(const footprint_t *x, const rows_t *r)
{
    int64_t width, by;
    for (int k = 0; k < x->atom_count && poly_is_constant(r->width, &width); k++) {
        poly_t coef, rest;
        if (affine_is_index(x, k) && poly_split(r->column, k, &coef, &rest) &&
            poly_is_constant(coef, &by) && (by >= width || by <= -width))
            return true;
    }
    return false;
}

bool region_rows(const footprint_t *x, box_t *b, int64_t element, rows_t *out)
{
    for (int k = 0; k < b->steps && b->stepped; k++) {
        if (!rows_of_step(x, b, k, element, out) || leaves_row(x, out))
            continue;
        poly_t end = poly_add(out->column, out->columns);
        return region_demand(x, b, out->row) && region_demand(x, b, out->column) &&
               region_demand(x, b, poly_sub(out->width, end)) &&
               region_demand(x, b, poly_add(out->row, out->rows));
    }
    return false;
}
