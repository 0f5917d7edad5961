/* SPDX-License-Identifier: Apache-2.0 */
/* Divisions and remainders of indices, as pairs of atoms. */
#ifndef KMMCC_ANALYZE_QUOTIENT_H
#define KMMCC_ANALYZE_QUOTIENT_H

#include <stdbool.h>

#include "analyze/affine_atom.h"

/* The division of two values; NULL: it is none of an index by a size. */
const quotient_t *quotient_of(footprint_t *x, poly_t of, poly_t by, bool is_signed);
/* True if the atom, a quotient or a rest, is never negative. */
bool quotient_is_count(const footprint_t *x, const atom_t *a);
/* Puts `of` for `by * whole + rest`, times whatever it is. */
void quotient_fold(const footprint_t *x, poly_t *p);
/* Puts `of - rest` for `by * whole`, where the polynomial has a multiple of that. */
void quotient_spread(const footprint_t *x, poly_t *p);
/* The greatest value of a rest; false: it is not known, or the least is not 0. */
bool quotient_extent(const footprint_t *x, box_t *b, int rest, poly_t *last);

#endif
