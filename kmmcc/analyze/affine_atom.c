/* SPDX-License-Identifier: Apache-2.0 */
/* Atoms of a footprint, and what is assumed of its boxes. */
#include "analyze/affine_atom.h"

#include <stddef.h>

#include "analyze/quotient.h"
#include "base/arena.h"

int affine_atom(footprint_t *x, atom_kind_t kind, int number, bool is_unsigned)
{
    for (int k = 0; k < x->atom_count; k++)
        if (x->atom[k].kind == kind && x->atom[k].number == number &&
            x->atom[k].is_unsigned == is_unsigned)
            return k;
    x->atom = arena_grow(x->atom, x->atom_count, &x->atom_capacity, sizeof(*x->atom));
    x->atom[x->atom_count] = (atom_t){kind, number, is_unsigned};
    return x->atom_count++;
}

bool affine_is_index(const footprint_t *x, int atom)
{
    return x->atom[atom].kind <= ATOM_WALK || x->atom[atom].kind >= ATOM_QUOTIENT;
}

int affine_dimension(const footprint_t *x, int atom)
{
    const atom_t *a = &x->atom[atom];
    return a->kind == ATOM_LOOP || a->kind > ATOM_WALK ? -1 : a->number % 3;
}

bool affine_is_count(const footprint_t *x, int atom)
{
    const atom_t *a = &x->atom[atom];
    if (a->kind == ATOM_QUOTIENT || a->kind == ATOM_REST)
        return quotient_is_count(x, a);
    return a->kind != ATOM_VALUE || a->is_unsigned;
}

bool affine_has_index(const footprint_t *x, poly_t p)
{
    for (int k = 0; k < x->atom_count; k++)
        if (affine_is_index(x, k) && poly_has(p, k))
            return true;
    return false;
}

bool affine_assume(box_t *b, poly_t p)
{
    int64_t value;
    if (poly_is_constant(p, &value))
        return value >= 0;
    for (int k = 0; k < b->assumed_count; k++)
        if (poly_equal(b->assumed[k], p))
            return true;
    if (p.fails || b->assumed_count == MOST_ASSUMED)
        return false;
    b->assumed[b->assumed_count++] = p;
    return true;
}

bool affine_is_linear(const footprint_t *x, poly_t p)
{
    for (int k = 0; k < p.count; k++) {
        int indices = 0;
        for (int i = 0; i < p.term[k].factors; i++)
            indices += affine_is_index(x, p.term[k].factor[i]);
        if (indices > 1)
            return false;
    }
    return !p.fails;
}

bool affine_never_negative(const footprint_t *x, poly_t p)
{
    for (int k = 0; k < p.count; k++) {
        if (p.term[k].coef < 0)
            return false;
        for (int i = 0; i < p.term[k].factors; i++)
            if (!affine_is_count(x, p.term[k].factor[i]))
                return false;
    }
    return !p.fails;
}
