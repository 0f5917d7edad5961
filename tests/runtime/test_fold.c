/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of reductions against brute force, for every operator and type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "random.h"
#include "reduce_reference.h"

static kmm__element_t plain(kmm_type_t t)
{
    return (kmm__element_t){.type = t, .bytes = (uint32_t)kmm__type_bytes(t)};
}

/* ---- Random elements, special ones among them ---- */

static double special_real(rng_t *r)
{
    static const double s[] = {0,   -0.0,  1,    -1,    INFINITY, -INFINITY, NAN,
                               0.5, 65504, 3e38, -3e38, 1e-30,    6e-8};
    return s[rng_range(r, 0, sizeof(s) / sizeof(*s) - 1)];
}

static double random_real(rng_t *r)
{
    return rng_range(r, 0, 3) == 0 ? special_real(r) : (double)rng_range(r, -100000, 100000) / 1024;
}

static void random_number(rng_t *r, kmm_type_t t, void *out)
{
    size_t bytes = kmm__type_bytes(t);
    double d[2] = {random_real(r), random_real(r)};
    float f[2] = {(float)d[0], (float)d[1]};
    uint16_t h = t == KMM_HALF ? kmm__float_to_half(f[0]) : kmm__float_to_bfloat16(f[0]);
    uint64_t v = (uint64_t)rng_range(r, -3, 3);
    if (rng_range(r, 0, 2) == 0)
        v = (uint64_t)rng_range(r, INT64_MIN / 2, INT64_MAX / 2) * 2 + (uint64_t)rng_range(r, 0, 1);
    if (rng_range(r, 0, 9) == 0)
        v = UINT64_C(1) << (bytes < 8 ? 8 * bytes - 1 : 63);
    if (t == KMM_HALF || t == KMM_BFLOAT16)
        memcpy(out, &h, bytes);
    else if (t == KMM_FLOAT || t == KMM_COMPLEX_FLOAT)
        memcpy(out, f, bytes);
    else if (t == KMM_DOUBLE || t == KMM_COMPLEX_DOUBLE)
        memcpy(out, d, bytes);
    else
        memcpy(out, &v, bytes);
}

static void random_element(rng_t *r, const kmm__element_t *e, void *out)
{
    uint64_t index = (uint64_t)rng_range(r, 0, 5) << (rng_range(r, 0, 3) ? 0 : 28);
    if (!e->is_pair) {
        random_number(r, e->type, out);
        return;
    }
    memset(out, (int)rng_range(r, 0, 255), e->bytes);
    random_number(r, e->type, (char *)out + e->value_at);
    memcpy((char *)out + e->index_at, &index, kmm__type_bytes(e->index));
}

/* Equal bits, or a NaN both times. */
static bool same_number(kmm_type_t t, const void *a, const void *b)
{
    if (t == KMM_COMPLEX_FLOAT || t == KMM_COMPLEX_DOUBLE) {
        kmm_type_t part = t == KMM_COMPLEX_FLOAT ? KMM_FLOAT : KMM_DOUBLE;
        size_t half = kmm__type_bytes(part);
        return same_number(part, a, b) &&
               same_number(part, (const char *)a + half, (const char *)b + half);
    }
    if (kmm__type_is_floating(t) && isnan(reference_real(t, a)))
        return isnan(reference_real(t, b));
    return !memcmp(a, b, kmm__type_bytes(t));
}

static bool same_wide(const kmm__element_t *e, const void *a, const void *b)
{
    bool narrow = e->type == KMM_HALF || e->type == KMM_BFLOAT16;
    return e->is_pair ? !memcmp(a, b, e->bytes) : same_number(narrow ? KMM_FLOAT : e->type, a, b);
}

/* ---- Tests ---- */

static void folds_one(rng_t *r, kmm_op_t op, const kmm__element_t *e)
{
    enum { N = 37, ROUNDS = 60 };
    size_t wide = kmm__wide_bytes(e);
    char a[N * 64], b[N * 64], x[N * 64], y[N * 64], old[N * 64];
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t k = 0; k < N; k++)
            random_element(r, e, a + k * e->bytes), random_element(r, e, b + k * e->bytes);
        kmm__widen(e, x, a, N);
        kmm__widen(e, y, b, N);
        memcpy(old, x, N * wide);
        kmm__fold(op, e, x, y, N);
        for (size_t k = 0; k < N; k++) {
            reference_fold(op, e, old + k * wide, y + k * wide);
            if (!same_wide(e, x + k * wide, old + k * wide))
                fail_msg("op %d type %d%s: wrong", op, e->type, e->is_pair ? " pair" : "");
        }
        kmm__widen(e, x, a, N);
        memcpy(old, x, N * wide);
        kmm__fold_target(op, e, x, y, N);
        for (size_t k = 0; k < N; k++) {
            reference_fold_target(op, e, old + k * wide, y + k * wide);
            if (!same_wide(e, x + k * wide, old + k * wide))
                fail_msg("op %d type %d%s: wrong target", op, e->type, e->is_pair ? " pair" : "");
        }
    }
}

/* With the identity on either side nothing changes; && and || on the left keep truth only. */
static void keeps_one(rng_t *r, kmm_op_t op, const kmm__element_t *e)
{
    char id[64], x[64], y[64], one[64];
    bool logical = op == KMM_OP_LAND || op == KMM_OP_LOR;
    for (int round = 0; round < 300; round++) {
        random_element(r, e, one);
        kmm__fold_identity(op, e, id);
        kmm__widen(e, x, one, 1);
        kmm__widen(e, y, id, 1);
        kmm__fold(op, e, x, y, 1);
        kmm__narrow(e, x, x, 1);
        if (e->is_pair ? memcmp(x, one, e->bytes) != 0 : !same_number(e->type, x, one))
            fail_msg("op %d type %d: the identity on the right changes something", op, e->type);
        if (logical)
            continue;
        kmm__widen(e, x, one, 1);
        kmm__fold(op, e, y, x, 1);
        kmm__narrow(e, y, y, 1);
        if (e->is_pair ? memcmp(y, one, e->bytes) != 0 : !same_number(e->type, y, one))
            fail_msg("op %d type %d: the identity on the left changes something", op, e->type);
    }
}

static const kmm__element_t pairs[] = {
    {KMM_FLOAT, 8, true, KMM_INT32, 0, 4},    {KMM_DOUBLE, 16, true, KMM_INT64, 0, 8},
    {KMM_INT32, 8, true, KMM_UINT32, 4, 0},   {KMM_INT8, 16, true, KMM_UINT64, 0, 8},
    {KMM_UINT8, 8, true, KMM_INT32, 0, 4},    {KMM_HALF, 8, true, KMM_INT32, 0, 4},
    {KMM_BFLOAT16, 8, true, KMM_INT32, 4, 0}, {KMM_UINT64, 24, true, KMM_INT64, 8, 16},
    {KMM_INT64, 12, true, KMM_INT32, 0, 8},   {KMM_INT16, 8, true, KMM_INT32, 0, 4},
    {KMM_UINT16, 8, true, KMM_INT32, 2, 4},   {KMM_UINT32, 8, true, KMM_INT32, 0, 4},
};

static void folds_every_operator_and_type(void **state)
{
    (void)state;
    rng_t r = {rng_seed()};
    int count = 0;
    for (int op = 0; op < OPS; op++) {
        for (int t = 0; t < TYPES; t++) {
            kmm__element_t e = plain((kmm_type_t)t);
            if (!kmm__fold_allows((kmm_op_t)op, &e))
                continue;
            folds_one(&r, (kmm_op_t)op, &e);
            keeps_one(&r, (kmm_op_t)op, &e);
            count++;
        }
        for (size_t p = 0; p < sizeof(pairs) / sizeof(*pairs); p++) {
            if (!kmm__fold_allows((kmm_op_t)op, &pairs[p]))
                continue;
            folds_one(&r, (kmm_op_t)op, &pairs[p]);
            keeps_one(&r, (kmm_op_t)op, &pairs[p]);
            count++;
        }
    }
    /* 8 integers by 9 operators, 4 reals by 6, 2 complex by 2, 12 pairs by 2 */
    assert_int_equal(count, 72 + 24 + 4 + 24);
}

static uint32_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

/* The bits of a NaN are those of an operand, or the default NaN. */
static void defines_the_bits_of_nans(void **state)
{
    static const uint32_t nans[] = {0x7fc00001, 0xffc12345, 0x7f800001, 0xff812345};
    static const float numbers[] = {0, -0.0f, 1, -2.5f, INFINITY, -INFINITY, 1e-40f};
    const kmm__element_t e = plain(KMM_FLOAT);
    (void)state;
    for (int op = KMM_OP_ADD; op <= KMM_OP_MUL; op++)
        for (int k = 0; k < 4; k++) {
            float a, b, x, y;
            memcpy(&a, &nans[k], sizeof(a));
            memcpy(&b, &nans[(k + 1) % 4], sizeof(b));
            x = a;
            kmm__fold((kmm_op_t)op, &e, &x, &b, 1);
            assert_int_equal(float_bits(x), nans[k]);
            for (int i = 0; i < 7; i++) {
                x = a;
                y = numbers[i];
                kmm__fold((kmm_op_t)op, &e, &x, &numbers[i], 1);
                kmm__fold((kmm_op_t)op, &e, &y, &a, 1);
                assert_int_equal(float_bits(x), nans[k]);
                assert_int_equal(float_bits(y), nans[k]);
            }
        }
    float infinite = INFINITY, minus = -INFINITY, zero = 0;
    kmm__fold(KMM_OP_ADD, &e, &infinite, &minus, 1);
    kmm__fold(KMM_OP_MUL, &e, &zero, &minus, 1);
    assert_int_equal(float_bits(infinite), 0xffc00000);
    assert_int_equal(float_bits(zero), 0xffc00000);
}

static void refuses_what_has_no_meaning(void **state)
{
    (void)state;
    kmm__element_t real = plain(KMM_FLOAT), complex = plain(KMM_COMPLEX_FLOAT),
                   none = {.type = (kmm_type_t)99, .bytes = 4};
    assert_false(kmm__fold_allows(KMM_OP_BAND, &real));
    assert_false(kmm__fold_allows(KMM_OP_MIN, &complex));
    assert_false(kmm__fold_allows(KMM_OP_ADD, &none));
    assert_false(kmm__fold_allows((kmm_op_t)99, &real));
    assert_false(kmm__fold_allows(KMM_OP_ARGMIN, &real));
    assert_false(kmm__fold_allows(KMM_OP_ADD, &pairs[0]));
    kmm__element_t wrong[] = {
        {KMM_FLOAT, 8, true, KMM_FLOAT, 0, 4}, /* an index that is none */
        {KMM_FLOAT, 8, true, KMM_INT16, 0, 4},
        {KMM_COMPLEX_FLOAT, 16, true, KMM_INT32, 0, 8}, /* no order */
        {KMM_DOUBLE, 16, true, KMM_INT32, 0, 4},        /* overlap */
        {KMM_DOUBLE, 16, true, KMM_INT32, 8, 14},       /* outside */
        {KMM_DOUBLE, 16, true, KMM_INT32, 8, 4},        /* right */
    };
    for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++)
        assert_int_equal(kmm__fold_allows(KMM_OP_ARGMAX, &wrong[k]), k == 5);
}

/* The candidates around a value, and which of them is nearest, ties to even. */
static uint16_t nearest(double v, double (*value)(uint16_t), uint16_t infinity, double overflow)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0, lo = 0, hi = infinity;
    v = fabs(v);
    if (v >= overflow)
        return sign | infinity;
    while (hi - lo > 1) { /* value(lo) <= v < value(hi) */
        uint16_t mid = (uint16_t)((lo + hi) / 2);
        if (value(mid) <= v)
            lo = mid;
        else
            hi = mid;
    }
    double top = hi == infinity ? 2 * value(lo) - value((uint16_t)(lo - 1)) : value(hi),
           below = v - value(lo), above = top - v;
    return sign | (below < above || (below == above && !(lo & 1)) ? lo : hi);
}

static void rounds_to_nearest(void **state)
{
    (void)state;
    rng_t r = {rng_seed()};
    for (uint32_t h = 0; h < 65536; h++) {
        float a = kmm__half_to_float((uint16_t)h), b = kmm__bfloat16_to_float((uint16_t)h);
        double x = reference_half((uint16_t)h);
        assert_true(isnan(x) ? isnan(a) : a == x && !signbit(a) == !signbit(x));
        if (!isnan(a))
            assert_int_equal(kmm__float_to_half(a), h);
        else
            assert_true(isnan(kmm__half_to_float(kmm__float_to_half(a))));
        if (!isnan(b))
            assert_int_equal(kmm__float_to_bfloat16(b), h);
        else
            assert_true(isnan(kmm__bfloat16_to_float(kmm__float_to_bfloat16(b))));
    }
    for (int k = 0; k < 200000; k++) {
        uint32_t bits = (uint32_t)rng_range(&r, 0, UINT32_MAX);
        if (k % 2) /* in the range of halves, where ties are not rare */
            bits = (bits & 0x8fffe000) | (uint32_t)rng_range(&r, 100, 144) << 23 |
                   (uint32_t)rng_range(&r, 0, 1) << 12 | (k % 4 == 1);
        float f;
        memcpy(&f, &bits, sizeof(f));
        if (isnan(f))
            continue;
        assert_int_equal(kmm__float_to_half(f), nearest(f, reference_half, 0x7c00, 65520));
        assert_int_equal(kmm__float_to_bfloat16(f),
                         nearest(f, reference_bfloat16, 0x7f80, 0x1.ffp127));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_every_operator_and_type),
        cmocka_unit_test(defines_the_bits_of_nans),
        cmocka_unit_test(refuses_what_has_no_meaning),
        cmocka_unit_test(rounds_to_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
