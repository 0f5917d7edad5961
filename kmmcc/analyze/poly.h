/* SPDX-License-Identifier: Apache-2.0 */
/* Polynomials with integer coefficients over numbered atoms. */
#ifndef KMMCC_ANALYZE_POLY_H
#define KMMCC_ANALYZE_POLY_H

#include <stdbool.h>
#include <stdint.h>

enum { POLY_FACTORS = 6, POLY_TERMS = 32 };

typedef struct poly_term {
    int64_t coef;                      /* never 0 */
    int factor[POLY_FACTORS], factors; /* atoms, ascending */
} poly_term_t;

/* Terms are sorted, so equal polynomials have equal terms. */
typedef struct poly {
    poly_term_t *term;
    int count;
    bool fails; /* it has too many terms or factors, or was computed from one that fails */
} poly_t;

poly_t poly_failed(void);
poly_t poly_constant(int64_t value);
poly_t poly_atom(int atom);
poly_t poly_add(poly_t a, poly_t b);
poly_t poly_sub(poly_t a, poly_t b);
poly_t poly_scale(poly_t a, int64_t by);
poly_t poly_mul(poly_t a, poly_t b);
bool poly_equal(poly_t a, poly_t b);
bool poly_is_constant(poly_t a, int64_t *value);
/* Returns the term without atoms; 0: there is none. */
int64_t poly_constant_term(poly_t a);
/* Splits a into *coef * atom + *rest, where neither contains the atom. False: a contains a power of
 * the atom. */
bool poly_split(poly_t a, int atom, poly_t *coef, poly_t *rest);
poly_t poly_substitute(poly_t a, int atom, poly_t by);
bool poly_has(poly_t a, int atom);
/* Divides all coefficients of a. False: one is not divisible. */
bool poly_divide(poly_t a, int64_t by, poly_t *out);

#endif
