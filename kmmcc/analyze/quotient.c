/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A division of an index is two atoms, the quotient and the rest. Code that takes an index apart
 * mostly puts it together again: then the sum of both is the index. What is left has bounds.
 */
#include "analyze/quotient.h"

#include <stddef.h>

#include "base/arena.h"

bool quotient_is_count(const footprint_t *x, const atom_t *a)
{
    const quotient_t *q = &x->quotient[a->number];
    if (!q->is_signed)
        return true;
    return affine_never_negative(x, q->of) &&
           (a->kind == ATOM_REST || affine_never_negative(x, q->by));
}

/* The quotient whose atom is the whole polynomial; NULL: it is more than that. */
static const quotient_t *quotient_alone(const footprint_t *x, poly_t p)
{
    if (p.count != 1 || p.term[0].factors != 1 || p.term[0].coef != 1)
        return NULL;
    const atom_t *a = &x->atom[p.term[0].factor[0]];
    return a->kind == ATOM_QUOTIENT ? &x->quotient[a->number] : NULL;
}

const quotient_t *quotient_of(footprint_t *x, poly_t of, poly_t by, bool is_signed)
{
    int64_t size;
    if (of.fails || by.fails || affine_has_index(x, by) ||
        (poly_is_constant(by, &size) && size <= 0))
        return NULL;
    for (int k = 0; k < x->quotient_count; k++)
        if (x->quotient[k].is_signed == is_signed && poly_equal(x->quotient[k].of, of) &&
            poly_equal(x->quotient[k].by, by))
            return &x->quotient[k];
    /* (a / b) / c is a / (b * c). */
    const quotient_t *inner = quotient_alone(x, of), *same = NULL;
    if (inner && inner->is_signed == is_signed)
        same = quotient_of(x, inner->of, poly_mul(inner->by, by), is_signed);
    int whole = same ? same->whole : -1, number = x->quotient_count;
    x->quotient = arena_grow(x->quotient, number, &x->quotient_capacity, sizeof(*x->quotient));
    x->quotient[x->quotient_count++] = (quotient_t){of, by, is_signed, whole, -1};
    if (whole < 0)
        whole = affine_atom(x, ATOM_QUOTIENT, number, false);
    x->quotient[number].whole = whole;
    x->quotient[number].rest = affine_atom(x, ATOM_REST, number, false);
    return &x->quotient[number];
}

void quotient_fold(const footprint_t *x, poly_t *p)
{
    /* A later one may be of what an earlier one has made. */
    for (int k = x->quotient_count - 1; k >= 0; k--) {
        const quotient_t *q = &x->quotient[k];
        poly_t times, other, by, left;
        if (!poly_has(*p, q->rest) || !poly_has(*p, q->whole) ||
            !poly_split(*p, q->rest, &times, &other) || !poly_split(other, q->whole, &by, &left) ||
            !poly_equal(by, poly_mul(times, q->by)))
            continue;
        poly_t folded = poly_add(left, poly_mul(times, q->of));
        if (folded.fails)
            continue;
        *p = folded;
        k = x->quotient_count;
    }
}

/* a / b; false: it is no polynomial, or b has several terms. */
static bool divided(poly_t a, poly_t b, poly_t *out)
{
    if (b.count != 1 || !poly_divide(a, b.term[0].coef, out))
        return false;
    for (int i = 0; i < b.term[0].factors; i++) {
        poly_t coef, rest;
        if (!poly_split(*out, b.term[0].factor[i], &coef, &rest) || rest.count)
            return false;
        *out = coef;
    }
    return true;
}

void quotient_spread(const footprint_t *x, poly_t *p)
{
    for (int k = x->quotient_count - 1; k >= 0; k--) {
        const quotient_t *q = &x->quotient[k];
        poly_t coef, left, times;
        if (!poly_has(*p, q->whole) || !poly_split(*p, q->whole, &coef, &left) ||
            !divided(coef, q->by, &times))
            continue;
        poly_t spread = poly_add(left, poly_mul(times, poly_sub(q->of, poly_atom(q->rest))));
        if (!spread.fails)
            *p = spread;
    }
}

/* The same as affine_never_negative, where sizes are assumed to be at least 1. */
static bool assume_count(const footprint_t *x, box_t *b, poly_t p)
{
    for (int k = 0; k < p.count; k++) {
        if (p.term[k].coef < 0)
            return false;
        for (int i = 0; i < p.term[k].factors; i++) {
            const atom_t *a = &x->atom[p.term[k].factor[i]];
            const quotient_t *q = &x->quotient[a->kind >= ATOM_QUOTIENT ? a->number : 0];
            if (!affine_is_count(x, p.term[k].factor[i]) &&
                (a->kind < ATOM_QUOTIENT || !assume_count(x, b, q->of) ||
                 !affine_assume(b, poly_sub(q->by, poly_constant(1)))))
                return false;
        }
    }
    return !p.fails;
}

bool quotient_extent(const footprint_t *x, box_t *b, int rest, poly_t *last)
{
    const quotient_t *q = &x->quotient[x->atom[rest].number];
    *last = poly_sub(q->by, poly_constant(1));
    return (!q->is_signed || assume_count(x, b, q->of)) && affine_assume(b, *last);
}
