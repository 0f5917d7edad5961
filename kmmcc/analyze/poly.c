/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on polynomials. Every result is built anew in the arena. A result with too many terms
 * or factors, or with a coefficient beyond 64 bits, fails, and so does all that is computed from
 * it. */
#include "analyze/poly.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"

poly_t poly_failed(void)
{
    return (poly_t){.fails = true};
}

static poly_t room(int terms)
{
    terms = terms < POLY_TERMS ? terms : POLY_TERMS;
    return (poly_t){.term = arena_alloc(((size_t)terms + 1) * sizeof(poly_term_t))};
}

poly_t poly_constant(int64_t value)
{
    poly_t p = room(1);
    p.term[0] = (poly_term_t){.coef = value};
    p.count = value != 0;
    return p;
}

poly_t poly_atom(int atom)
{
    poly_t p = room(1);
    p.term[0] = (poly_term_t){.coef = 1, .factor = {atom}, .factors = 1};
    p.count = 1;
    return p;
}

/* Longer products come first, and the constant last. */
static int order(const poly_term_t *a, const poly_term_t *b)
{
    if (a->factors != b->factors)
        return b->factors - a->factors;
    for (int k = 0; k < a->factors; k++)
        if (a->factor[k] != b->factor[k])
            return a->factor[k] - b->factor[k];
    return 0;
}

static void insert(poly_t *p, poly_term_t t)
{
    int k = 0;
    if (t.coef == 0 || p->fails)
        return;
    while (k < p->count && order(&p->term[k], &t) < 0)
        k++;
    if (k < p->count && order(&p->term[k], &t) == 0) {
        p->fails |= __builtin_add_overflow(p->term[k].coef, t.coef, &p->term[k].coef);
        if (p->term[k].coef == 0) {
            p->count--;
            memmove(p->term + k, p->term + k + 1, (size_t)(p->count - k) * sizeof(t));
        }
        return;
    }
    if (p->count == POLY_TERMS) {
        p->fails = true;
        return;
    }
    memmove(p->term + k + 1, p->term + k, (size_t)(p->count - k) * sizeof(t));
    p->term[k] = t;
    p->count++;
}

poly_t poly_add(poly_t a, poly_t b)
{
    poly_t p = room(a.count + b.count);
    p.fails = a.fails || b.fails;
    for (int k = 0; k < a.count; k++)
        insert(&p, a.term[k]);
    for (int k = 0; k < b.count; k++)
        insert(&p, b.term[k]);
    return p;
}

poly_t poly_scale(poly_t a, int64_t by)
{
    return poly_mul(a, poly_constant(by));
}

poly_t poly_sub(poly_t a, poly_t b)
{
    return poly_add(a, poly_scale(b, -1));
}

static bool product(const poly_term_t *a, const poly_term_t *b, poly_term_t *out)
{
    *out = (poly_term_t){.coef = 0};
    if (__builtin_mul_overflow(a->coef, b->coef, &out->coef) ||
        a->factors + b->factors > POLY_FACTORS)
        return false;
    for (int i = 0, j = 0; i < a->factors || j < b->factors;) {
        bool first = j == b->factors || (i < a->factors && a->factor[i] <= b->factor[j]);
        out->factor[out->factors++] = first ? a->factor[i++] : b->factor[j++];
    }
    return true;
}

poly_t poly_mul(poly_t a, poly_t b)
{
    poly_t p = room(a.count * b.count);
    poly_term_t t;
    p.fails = a.fails || b.fails;
    for (int i = 0; i < a.count; i++)
        for (int j = 0; j < b.count && !p.fails; j++) {
            if (product(&a.term[i], &b.term[j], &t))
                insert(&p, t);
            else
                p.fails = true;
        }
    return p;
}

bool poly_equal(poly_t a, poly_t b)
{
    if (a.fails || b.fails || a.count != b.count)
        return false;
    for (int k = 0; k < a.count; k++)
        if (a.term[k].coef != b.term[k].coef || order(&a.term[k], &b.term[k]) != 0)
            return false;
    return true;
}

bool poly_is_constant(poly_t a, int64_t *value)
{
    *value = a.count ? a.term[0].coef : 0;
    return !a.fails && (a.count == 0 || (a.count == 1 && a.term[0].factors == 0));
}

int64_t poly_constant_term(poly_t a)
{
    return a.count && a.term[a.count - 1].factors == 0 ? a.term[a.count - 1].coef : 0;
}

bool poly_split(poly_t a, int atom, poly_t *coef, poly_t *rest)
{
    *coef = room(a.count);
    *rest = room(a.count);
    if (a.fails)
        return false;
    for (int k = 0; k < a.count; k++) {
        poly_term_t t = a.term[k];
        int powers = 0, kept = 0;
        for (int i = 0; i < t.factors; i++) {
            powers += t.factor[i] == atom;
            if (t.factor[i] != atom)
                t.factor[kept++] = t.factor[i];
        }
        t.factors = kept;
        if (powers > 1)
            return false;
        insert(powers ? coef : rest, t);
    }
    return true;
}

poly_t poly_substitute(poly_t a, int atom, poly_t by)
{
    poly_t coef, rest;
    if (!poly_split(a, atom, &coef, &rest))
        return poly_failed();
    return coef.count ? poly_add(rest, poly_mul(coef, by)) : a;
}

bool poly_has(poly_t a, int atom)
{
    for (int k = 0; k < a.count; k++)
        for (int i = 0; i < a.term[k].factors; i++)
            if (a.term[k].factor[i] == atom)
                return true;
    return false;
}

bool poly_divide(poly_t a, int64_t by, poly_t *out)
{
    *out = room(a.count);
    if (a.fails || by == 0)
        return false;
    for (int k = 0; k < a.count; k++) {
        poly_term_t t = a.term[k];
        if (t.coef % by)
            return false;
        t.coef /= by;
        insert(out, t);
    }
    return true;
}
