/* SPDX-License-Identifier: Apache-2.0 */
/* Expected results of reductions, computed one element at a time and in another way than the
 * runtime computes them. */
#ifndef REDUCE_REFERENCE_H
#define REDUCE_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "launch/fold.h"

enum { TYPES = KMM_COMPLEX_DOUBLE + 1, OPS = KMM_OP_ARGMAX + 1 };

/* A real number in double holds every float, half and bfloat16, and rounding twice is harmless for
 * + and *. */
static inline double reference_half(uint16_t h)
{
    int e = h >> 10 & 31, f = h & 0x3ff;
    double v = e == 31 ? (f ? NAN : INFINITY) : e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);
    return h & 0x8000 ? -v : v;
}

static inline double reference_bfloat16(uint16_t h)
{
    uint32_t b = (uint32_t)h << 16;
    float f;
    memcpy(&f, &b, sizeof(f));
    return f;
}

static inline bool is_signed_type(kmm_type_t t)
{
    return t <= KMM_INT64;
}

static inline __int128 reference_integer(kmm_type_t t, const void *at)
{
    size_t bytes = kmm__type_bytes(t);
    uint64_t u = 0;
    memcpy(&u, at, bytes);
    __int128 v = u;
    if (is_signed_type(t) && u >> (8 * bytes - 1))
        v -= (__int128)1 << 8 * bytes;
    return v;
}

/* The value of an element as itself, not in wide form. */
static inline double reference_real(kmm_type_t t, const void *at)
{
    float f;
    double d;
    uint16_t h;
    memcpy(&h, at, sizeof(h));
    if (t == KMM_HALF)
        return reference_half(h);
    if (t == KMM_BFLOAT16)
        return reference_bfloat16(h);
    memcpy(&f, at, sizeof(f));
    if (t == KMM_FLOAT)
        return f;
    memcpy(&d, at, sizeof(d));
    return d;
}

static inline __int128 reference_integer_op(kmm_op_t op, __int128 a, __int128 b)
{
    switch (op) {
    case KMM_OP_ADD: return a + b;
    case KMM_OP_MUL: return (__int128)((unsigned __int128)a * (unsigned __int128)b);
    case KMM_OP_MIN: return a < b ? a : b;
    case KMM_OP_MAX: return a < b ? b : a;
    case KMM_OP_BAND: return a & b;
    case KMM_OP_BOR: return a | b;
    case KMM_OP_BXOR: return a ^ b;
    case KMM_OP_LAND: return b ? a : 0;
    case KMM_OP_LOR: return b ? b : a;
    case KMM_OP_ARGMIN:
    case KMM_OP_ARGMAX: break;
    }
    return 0;
}

static inline double reference_real_op(kmm_op_t op, double a, double b)
{
    if (op == KMM_OP_ADD)
        return a + b;
    if (op == KMM_OP_MUL)
        return a * b;
    if (op == KMM_OP_LAND)
        return b != 0 ? a : 0;
    if (op == KMM_OP_LOR)
        return b != 0 ? b : a;
    if (isnan(a) || isnan(b))
        return NAN;
    return op == KMM_OP_MIN ? (a <= b ? a : b) : (a >= b ? a : b);
}

static inline void reference_complex(kmm_op_t op, bool is_float, const double a[2],
                                     const double b[2], double out[2])
{
    if (op == KMM_OP_ADD) {
        out[0] = is_float ? (float)((float)a[0] + (float)b[0]) : a[0] + b[0];
        out[1] = is_float ? (float)((float)a[1] + (float)b[1]) : a[1] + b[1];
        return;
    }
    const double *one = b[0] == 1 && b[1] == 0 && !signbit(b[1])   ? a
                        : a[0] == 1 && a[1] == 0 && !signbit(a[1]) ? b
                                                                   : NULL;
    if (one) {
        out[0] = one[0], out[1] = one[1];
        return;
    }
    for (int k = 0; k < 2; k++) { /* real: 0*0 - 1*1, imaginary: 0*1 + 1*0 */
        double x = a[0] * b[k], y = a[1] * b[1 - k];
        if (is_float)
            x = (float)x, y = (float)y;
        out[k] = k ? x + y : x - y;
        if (is_float)
            out[k] = (float)out[k];
    }
}

static inline int reference_compare(kmm_type_t t, const void *x, const void *y)
{
    if (!kmm__type_is_floating(t)) {
        __int128 a = reference_integer(t, x), b = reference_integer(t, y);
        return (a > b) - (a < b);
    }
    double a = reference_real(t, x), b = reference_real(t, y);
    return (a > b) - (a < b);
}

/* Sorted by how much they deserve to win: the first of a and b. */
static inline bool reference_b_wins(kmm_op_t op, const kmm__element_t *e, const char *a,
                                    const char *b)
{
    const char *va = a + e->value_at, *vb = b + e->value_at;
    int c = reference_compare(e->type, va, vb);
    if (kmm__type_is_floating(e->type)) {
        int nan = isnan(reference_real(e->type, vb)) - isnan(reference_real(e->type, va));
        if (nan)
            return nan > 0;
    }
    if (c)
        return (op == KMM_OP_ARGMIN) == (c > 0);
    return reference_compare(e->index, a + e->index_at, b + e->index_at) > 0;
}

/* a = a op b for one element in wide form: half and bfloat16 are floats. */
static inline void reference_fold(kmm_op_t op, const kmm__element_t *e, void *a, const void *b)
{
    if (e->is_pair) {
        if (reference_b_wins(op, e, a, b))
            memcpy(a, b, e->bytes);
        return;
    }
    kmm_type_t t = e->type == KMM_HALF || e->type == KMM_BFLOAT16 ? KMM_FLOAT : e->type;
    if (t == KMM_COMPLEX_FLOAT || t == KMM_COMPLEX_DOUBLE) {
        bool is_float = t == KMM_COMPLEX_FLOAT;
        kmm_type_t part = is_float ? KMM_FLOAT : KMM_DOUBLE;
        size_t half = kmm__type_bytes(part);
        double x[2] = {reference_real(part, a), reference_real(part, (char *)a + half)};
        double y[2] = {reference_real(part, b), reference_real(part, (const char *)b + half)}, r[2];
        reference_complex(op, is_float, x, y, r);
        float f[2] = {(float)r[0], (float)r[1]};
        memcpy(a, is_float ? (void *)f : (void *)r, e->bytes);
        return;
    }
    if (kmm__type_is_floating(t)) {
        double r = reference_real_op(op, reference_real(t, a), reference_real(t, b));
        float f = (float)r;
        memcpy(a, t == KMM_FLOAT ? (void *)&f : (void *)&r, kmm__type_bytes(t));
        return;
    }
    __int128 r = reference_integer_op(op, reference_integer(t, a), reference_integer(t, b));
    uint64_t low = (uint64_t)r;
    memcpy(a, &low, e->bytes);
}

/* The last step, into the target: of pairs with equal values, or two NaNs, the target stays. */
static inline void reference_fold_target(kmm_op_t op, const kmm__element_t *e, void *target,
                                         const void *b)
{
    const char *x = (const char *)target + e->value_at, *y = (const char *)b + e->value_at;
    const bool both_nan = kmm__type_is_floating(e->type) && e->is_pair &&
                          isnan(reference_real(e->type, x)) && isnan(reference_real(e->type, y));
    const bool one_nan = kmm__type_is_floating(e->type) && e->is_pair && !both_nan &&
                         (isnan(reference_real(e->type, x)) || isnan(reference_real(e->type, y)));
    if (!e->is_pair || one_nan || (!both_nan && reference_compare(e->type, x, y)))
        reference_fold(op, e, target, b);
}

#endif
