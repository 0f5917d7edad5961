/* SPDX-License-Identifier: Apache-2.0 */
/* Folding runs of elements, for each operator and type. This file is compiled for GPUs, too
 * (launch/device_code.c). So it includes no header of the C library, and the bits of its results
 * are those of the operators' definition in fold.h and not of a processor. */
#include "launch/fold.h"

#ifndef RUN
#define RUN(n) (n) /* number of elements in a run of n; device_code.c has runs of 1 only */
#endif

/* ---- Types ---- */

size_t kmm__type_bytes(kmm_type_t type)
{
    static const size_t bytes[] = {
        [KMM_INT8] = 1,          [KMM_INT16] = 2,           [KMM_INT32] = 4,  [KMM_INT64] = 8,
        [KMM_UINT8] = 1,         [KMM_UINT16] = 2,          [KMM_UINT32] = 4, [KMM_UINT64] = 8,
        [KMM_FLOAT] = 4,         [KMM_DOUBLE] = 8,          [KMM_HALF] = 2,   [KMM_BFLOAT16] = 2,
        [KMM_COMPLEX_FLOAT] = 8, [KMM_COMPLEX_DOUBLE] = 16,
    };
    return (unsigned)type < sizeof(bytes) / sizeof(*bytes) ? bytes[type] : 0;
}

bool kmm__type_is_floating(kmm_type_t type)
{
    return type >= KMM_FLOAT;
}

static bool is_narrow(kmm_type_t type)
{
    return type == KMM_HALF || type == KMM_BFLOAT16;
}

static bool is_complex(kmm_type_t type)
{
    return type == KMM_COMPLEX_FLOAT || type == KMM_COMPLEX_DOUBLE;
}

static bool is_index(kmm_type_t type)
{
    return type == KMM_INT32 || type == KMM_INT64 || type == KMM_UINT32 || type == KMM_UINT64;
}

static bool fits(uint32_t at, kmm_type_t type, uint32_t bytes)
{
    size_t size = kmm__type_bytes(type);
    return at <= bytes && size <= bytes - at;
}

static bool pair_is_valid(const kmm__element_t *e)
{
    uint64_t value_end = e->value_at + kmm__type_bytes(e->type),
             index_end = e->index_at + kmm__type_bytes(e->index);
    bool apart = value_end <= e->index_at || index_end <= e->value_at;
    return is_index(e->index) && !is_complex(e->type) && apart && e->bytes <= KMM__ELEMENT_MAX &&
           fits(e->value_at, e->type, e->bytes) && fits(e->index_at, e->index, e->bytes);
}

bool kmm__fold_allows(kmm_op_t op, const kmm__element_t *e)
{
    bool integer = kmm__type_bytes(e->type) && !kmm__type_is_floating(e->type);
    bool is_arg = op == KMM_OP_ARGMIN || op == KMM_OP_ARGMAX;
    if (!kmm__type_bytes(e->type) || e->is_pair != is_arg)
        return false;
    switch (op) {
    case KMM_OP_ADD:
    case KMM_OP_MUL: return true;
    case KMM_OP_MIN:
    case KMM_OP_MAX:
    case KMM_OP_LAND:
    case KMM_OP_LOR: return !is_complex(e->type);
    case KMM_OP_BAND:
    case KMM_OP_BOR:
    case KMM_OP_BXOR: return integer;
    case KMM_OP_ARGMIN:
    case KMM_OP_ARGMAX: return pair_is_valid(e);
    }
    return false;
}

/* ---- Identities ---- */

/* The identity of a sum is -0.0, because x + -0.0 is x also if x is -0.0. */
static double floating_identity(kmm_op_t op)
{
    switch (op) {
    case KMM_OP_ADD: return -0.0;
    case KMM_OP_MUL:
    case KMM_OP_LAND: return 1;
    case KMM_OP_MIN:
    case KMM_OP_ARGMIN: return __builtin_inf();
    case KMM_OP_MAX:
    case KMM_OP_ARGMAX: return -__builtin_inf();
    case KMM_OP_LOR:
    case KMM_OP_BAND:
    case KMM_OP_BOR:
    case KMM_OP_BXOR: return 0;
    }
    return 0;
}

static uint64_t integer_identity(kmm_op_t op, kmm_type_t type)
{
    size_t bytes = kmm__type_bytes(type);
    uint64_t ones = bytes < 8 ? ((uint64_t)1 << 8 * bytes) - 1
                              : UINT64_MAX; /* integers only; not used for floating-point types */
    bool is_signed = type <= KMM_INT64;
    switch (op) {
    case KMM_OP_ADD:
    case KMM_OP_BOR:
    case KMM_OP_BXOR:
    case KMM_OP_LOR: return 0;
    case KMM_OP_MUL:
    case KMM_OP_LAND: return 1;
    case KMM_OP_BAND: return ones;
    case KMM_OP_MIN:
    case KMM_OP_ARGMIN: return is_signed ? ones >> 1 : ones;
    case KMM_OP_MAX:
    case KMM_OP_ARGMAX: return is_signed ? (ones >> 1) + 1 : 0;
    }
    return 0;
}

static void number_identity(kmm_op_t op, kmm_type_t type, void *out)
{
    double d[2] = {floating_identity(op), op == KMM_OP_ADD ? -0.0 : 0.0};
    float f[2] = {(float)d[0], (float)d[1]};
    uint16_t half = type == KMM_HALF ? kmm__float_to_half(f[0]) : kmm__float_to_bfloat16(f[0]);
    uint64_t v = integer_identity(op, type);
    size_t bytes = kmm__type_bytes(type);
    if (is_narrow(type))
        __builtin_memcpy(out, &half, bytes);
    else if (type == KMM_FLOAT || type == KMM_COMPLEX_FLOAT)
        __builtin_memcpy(out, f, bytes);
    else if (kmm__type_is_floating(type))
        __builtin_memcpy(out, d, bytes);
    else
        __builtin_memcpy(out, &v, bytes); /* devices and host are little-endian */
}

void kmm__fold_identity(kmm_op_t op, const kmm__element_t *e, void *out)
{
    if (!e->is_pair) {
        number_identity(op, e->type, out);
        return;
    }
    __builtin_memset(out, 0, e->bytes);
    number_identity(op, e->type, (char *)out + e->value_at);
    number_identity(KMM_OP_MIN, e->index,
                    (char *)out + e->index_at); /* the largest index loses every tie */
}

/* ---- Wide forms ---- */

size_t kmm__wide_bytes(const kmm__element_t *e)
{
    return is_narrow(e->type) && !e->is_pair ? sizeof(float) : e->bytes;
}

void kmm__widen(const kmm__element_t *e, void *wide, const void *elements, size_t n)
{
    float *w = wide;
    const uint16_t *h = elements;
    if (e->is_pair || !is_narrow(e->type))
        __builtin_memcpy(wide, elements, n * e->bytes);
    else
        for (size_t k = 0; k < RUN(n); k++)
            w[k] = e->type == KMM_HALF ? kmm__half_to_float(h[k]) : kmm__bfloat16_to_float(h[k]);
}

void kmm__narrow(const kmm__element_t *e, void *elements, const void *wide, size_t n)
{
    const float *w = wide;
    uint16_t *h = elements;
    if (e->is_pair || !is_narrow(e->type))
        __builtin_memcpy(elements, wide, n * e->bytes);
    else
        for (size_t k = 0; k < RUN(n); k++)
            h[k] = e->type == KMM_HALF ? kmm__float_to_half(w[k]) : kmm__float_to_bfloat16(w[k]);
}

/* ---- Numbers ---- */

/* Processors differ in the bits of a sum or product that is a NaN. settle_T returns `result`, or
 * for a NaN the bits that fold.h defines: those of a if it is a NaN, or else of b, or else the
 * default NaN. */
#define SETTLE(T, word, name, magnitude, infinity, default_nan)                                    \
    static word bits_of_##name(T v)                                                                \
    {                                                                                              \
        word bits;                                                                                 \
        __builtin_memcpy(&bits, &v, sizeof(bits));                                                 \
        return bits;                                                                               \
    }                                                                                              \
    static T settle_##name(T result, T a, T b)                                                     \
    {                                                                                              \
        const word x = bits_of_##name(a), y = bits_of_##name(b);                                   \
        word bits = bits_of_##name(result);                                                        \
        if ((bits & (magnitude)) <= (infinity))                                                    \
            return result;                                                                         \
        bits = (x & (magnitude)) > (infinity)   ? x                                                \
               : (y & (magnitude)) > (infinity) ? y                                                \
                                                : (default_nan);                                   \
        __builtin_memcpy(&result, &bits, sizeof(bits));                                            \
        return result;                                                                             \
    }
SETTLE(float, uint32_t, float, UINT32_C(0x7fffffff), UINT32_C(0x7f800000), UINT32_C(0xffc00000))
SETTLE(double, uint64_t, double, UINT64_C(0x7fffffffffffffff), UINT64_C(0x7ff0000000000000),
       UINT64_C(0xfff8000000000000))

#define EACH(expression)                                                                           \
    for (size_t k = 0; k < RUN(n); k++)                                                            \
        a[k] = (expression);                                                                       \
    return
#define COMMON(T)                                                                                  \
    case KMM_OP_LAND: EACH(b[k] != 0 ? a[k] : (T)0);                                               \
    case KMM_OP_LOR: EACH(b[k] != 0 ? b[k] : a[k]);                                                \
    case KMM_OP_ARGMIN:                                                                            \
    case KMM_OP_ARGMAX: return;
#define INTEGER(T, name)                                                                           \
    static void fold_##name(kmm_op_t op, T *a, const T *b, size_t n)                               \
    {                                                                                              \
        switch (op) {                                                                              \
        case KMM_OP_ADD: EACH((T)(a[k] + b[k]));                                                   \
        case KMM_OP_MUL: EACH((T)(1u * a[k] * b[k]));                                              \
        case KMM_OP_MIN: EACH(b[k] < a[k] ? b[k] : a[k]);                                          \
        case KMM_OP_MAX: EACH(b[k] > a[k] ? b[k] : a[k]);                                          \
        case KMM_OP_BAND: EACH((T)(a[k] & b[k]));                                                  \
        case KMM_OP_BOR: EACH((T)(a[k] | b[k]));                                                   \
        case KMM_OP_BXOR: EACH((T)(a[k] ^ b[k])); COMMON(T)                                        \
        }                                                                                          \
    }
#define REAL(T, name)                                                                              \
    static void fold_##name(kmm_op_t op, T *a, const T *b, size_t n)                               \
    {                                                                                              \
        switch (op) {                                                                              \
        case KMM_OP_ADD: EACH(settle_##name(a[k] + b[k], a[k], b[k]));                             \
        case KMM_OP_MUL: EACH(settle_##name(a[k] * b[k], a[k], b[k]));                             \
        case KMM_OP_MIN: EACH(b[k] < a[k] || b[k] != b[k] ? b[k] : a[k]);                          \
        case KMM_OP_MAX: EACH(b[k] > a[k] || b[k] != b[k] ? b[k] : a[k]);                          \
        case KMM_OP_BAND:                                                                          \
        case KMM_OP_BOR:                                                                           \
        case KMM_OP_BXOR: return; COMMON(T)                                                        \
        }                                                                                          \
    }
/* Signed sums and products wrap around, as on devices: they are computed unsigned. The factor 1u
 * keeps 16-bit operands from being multiplied as ints, which could overflow. */
INTEGER(int8_t, int8)
INTEGER(int16_t, int16)
INTEGER(int32_t, int32)
INTEGER(int64_t, int64)
INTEGER(uint8_t, uint8)
INTEGER(uint16_t, uint16)
INTEGER(uint32_t, uint32)
INTEGER(uint64_t, uint64)
REAL(float, float)
REAL(double, double)

/* A product with 1 + 0i can change the sign of a zero and make an infinity a NaN. So a factor that
 * is 1 + 0i is skipped. */
#define COMPLEX(T, name)                                                                           \
    static bool is_one_##name(const T *v)                                                          \
    {                                                                                              \
        return v[0] == 1 && bits_of_##name(v[1]) == 0;                                             \
    }                                                                                              \
    static T product_##name(T x, T y)                                                              \
    {                                                                                              \
        return settle_##name(x * y, x, y);                                                         \
    }                                                                                              \
    static T sum_##name(T x, T y)                                                                  \
    {                                                                                              \
        return settle_##name(x + y, x, y);                                                         \
    }                                                                                              \
    static T difference_##name(T x, T y)                                                           \
    {                                                                                              \
        return settle_##name(x - y, x, y);                                                         \
    }                                                                                              \
    static void multiply_##name(T *a, const T *b)                                                  \
    {                                                                                              \
        const T re = difference_##name(product_##name(a[0], b[0]), product_##name(a[1], b[1])),    \
                im = sum_##name(product_##name(a[0], b[1]), product_##name(a[1], b[0]));           \
        const bool right = is_one_##name(b), left = is_one_##name(a);                              \
        a[0] = right ? a[0] : left ? b[0] : re;                                                    \
        a[1] = right ? a[1] : left ? b[1] : im;                                                    \
    }                                                                                              \
    static void fold_complex_##name(kmm_op_t op, T *a, const T *b, size_t n)                       \
    {                                                                                              \
        for (size_t k = 0; k < 2 * RUN(n); k += 2) {                                               \
            if (op == KMM_OP_MUL) {                                                                \
                multiply_##name(a + k, b + k);                                                     \
                continue;                                                                          \
            }                                                                                      \
            a[k] = sum_##name(a[k], b[k]);                                                         \
            a[k + 1] = sum_##name(a[k + 1], b[k + 1]);                                             \
        }                                                                                          \
    }
COMPLEX(float, float)
COMPLEX(double, double)

static bool wraps(kmm_op_t op)
{
    return op == KMM_OP_ADD || op == KMM_OP_MUL;
}

static void fold_numbers(kmm_op_t op, kmm_type_t type, void *a, const void *b, size_t n)
{
    if (wraps(op) && type <= KMM_INT64)
        type = (kmm_type_t)(type + KMM_UINT8 - KMM_INT8);
    switch (type) {
    case KMM_INT8: fold_int8(op, a, b, n); return;
    case KMM_INT16: fold_int16(op, a, b, n); return;
    case KMM_INT32: fold_int32(op, a, b, n); return;
    case KMM_INT64: fold_int64(op, a, b, n); return;
    case KMM_UINT8: fold_uint8(op, a, b, n); return;
    case KMM_UINT16: fold_uint16(op, a, b, n); return;
    case KMM_UINT32: fold_uint32(op, a, b, n); return;
    case KMM_UINT64: fold_uint64(op, a, b, n); return;
    case KMM_HALF:
    case KMM_BFLOAT16:
    case KMM_FLOAT: fold_float(op, a, b, n); return;
    case KMM_DOUBLE: fold_double(op, a, b, n); return;
    case KMM_COMPLEX_FLOAT: fold_complex_float(op, a, b, n); return;
    case KMM_COMPLEX_DOUBLE: fold_complex_double(op, a, b, n); return;
    }
}

/* ---- Pairs ---- */

/* A number that compares like the element: integers by `i`, as signed or unsigned numbers, and
 * others by `d`. */
typedef struct number {
    double d;
    uint64_t i;
    bool is_signed, is_integer;
} number_t;

static number_t number_at(kmm_type_t type, const void *at)
{
    number_t v = {.is_integer = !kmm__type_is_floating(type), .is_signed = type <= KMM_INT64};
    size_t bytes = kmm__type_bytes(type);
    float f;
    __builtin_memcpy(&v.i, at, bytes);
    __builtin_memcpy(&f, &v.i, sizeof(f));
    if (v.is_signed) /* extends the sign */
        v.i = (uint64_t)((int64_t)(v.i << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    else if (type == KMM_DOUBLE)
        __builtin_memcpy(&v.d, at, bytes);
    else if (!v.is_integer)
        v.d = type == KMM_FLOAT  ? f
              : type == KMM_HALF ? kmm__half_to_float((uint16_t)v.i)
                                 : kmm__bfloat16_to_float((uint16_t)v.i);
    return v;
}

static bool less(number_t a, number_t b)
{
    if (!a.is_integer)
        return a.d < b.d;
    return a.is_signed ? (int64_t)a.i < (int64_t)b.i : a.i < b.i;
}

/* True if pair b replaces pair a by its value, or by its index if the values are equal. `keeps`: of
 * equal values, a stays. */
static bool pair_wins(kmm_op_t op, const kmm__element_t *e, const char *b, const char *a,
                      bool keeps)
{
    number_t x = number_at(e->type, a + e->value_at), y = number_at(e->type, b + e->value_at);
    bool x_nan = !x.is_integer && __builtin_isnan(x.d),
         y_nan = !y.is_integer && __builtin_isnan(y.d);
    if (x_nan != y_nan)
        return y_nan;
    if (!x_nan && (less(x, y) || less(y, x)))
        return op == KMM_OP_ARGMIN ? less(y, x) : less(x, y);
    return !keeps &&
           less(number_at(e->index, b + e->index_at), number_at(e->index, a + e->index_at));
}

void kmm__fold(kmm_op_t op, const kmm__element_t *e, void *a, const void *b, size_t n)
{
    if (!e->is_pair) {
        fold_numbers(op, e->type, a, b, n);
        return;
    }
    for (size_t k = 0; k < RUN(n); k++) {
        char *x = (char *)a + k * e->bytes;
        const char *y = (const char *)b + k * e->bytes;
        if (pair_wins(op, e, y, x, false))
            __builtin_memcpy(x, y, e->bytes);
    }
}

void kmm__fold_target(kmm_op_t op, const kmm__element_t *e, void *target, const void *b, size_t n)
{
    if (!e->is_pair) {
        fold_numbers(op, e->type, target, b, n);
        return;
    }
    for (size_t k = 0; k < RUN(n); k++) {
        char *x = (char *)target + k * e->bytes;
        const char *y = (const char *)b + k * e->bytes;
        if (pair_wins(op, e, y, x, true))
            __builtin_memcpy(x, y, e->bytes);
    }
}

void kmm__fold_numbers(kmm_op_t op, const kmm__element_t *e, void *a, const void *b, size_t n)
{
    const double identity = floating_identity(op);
    for (size_t k = 0; k < RUN(n) && !e->is_pair; k++)
        if (e->type == KMM_DOUBLE) {
            double *x = (double *)a + k;
            const double y = ((const double *)b)[k];
            *x = *x != *x && y != identity ? y : *x;
        } else {
            float *x = (float *)a + k;
            const float y = ((const float *)b)[k];
            *x = *x != *x && y != (float)identity ? y : *x;
        }
}

/* ---- && and || ---- */

/* Returns the bits of a number that is not complex. */
static uint64_t number_bits(const kmm__element_t *e, const char *at)
{
    uint64_t v = 0;
    __builtin_memcpy(&v, at, e->bytes); /* little-endian, like every device we drive */
    return v;
}

/* True if the number is neither 0 nor -0. */
static bool is_true(const kmm__element_t *e, uint64_t v)
{
    return kmm__type_is_floating(e->type) ? v << (64 - 8 * e->bytes) << 1 != 0 : v != 0;
}

void kmm__fold_truth(kmm_op_t op, const kmm__element_t *e, const char *partials,
                     int64_t partial_bytes, uint32_t count, char *target)
{
    const uint64_t old = number_bits(e, target);
    const bool is_or = op == KMM_OP_LOR;
    uint64_t last = old;
    bool decided = false;
    for (uint32_t k = 0; k < count; k++) {
        const uint64_t v = number_bits(e, partials + k * partial_bytes);
        const bool decides = is_true(e, v) == is_or;
        if (v == old || (decided && !decides))
            continue;
        last = v;
        decided = decides;
    }
    __builtin_memcpy(target, &last, e->bytes);
}
