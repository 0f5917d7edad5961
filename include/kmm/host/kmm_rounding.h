/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic and conversions whose names give a rounding mode: _rn to nearest even, _rz to zero,
 * _ru up, _rd down.
 *
 * Floats are computed as doubles and corrected by the sign of the remainder, so compilers can make
 * vectors of them. Doubles are computed by the processor in another rounding mode, in a function
 * that is not inlined (kmm_host_rounded).
 */
#ifndef KMM_HOST_ROUNDING_H
#define KMM_HOST_ROUNDING_H

/* Hides a value from the optimizer: operations before and after it are neither fused nor reordered.
 */
#if defined(KMM_HOST_PARSE)
#define KMM_HOST_FENCE(x) (x)
#elif defined(__clang__) && defined(__x86_64__)
#define KMM_HOST_FENCE(x) __arithmetic_fence(x)
#elif !defined(__clang__) && __GNUC__ >= 12
#define KMM_HOST_FENCE(x) __builtin_assoc_barrier(x)
#else
template <class kmm_T> static inline kmm_T kmm_host_fence(kmm_T x)
{
    asm("" : "+g"(x));
    return x;
}
#define KMM_HOST_FENCE(x) kmm_host_fence(x)
#endif

enum kmm_host_direction { KMM_HOST_NEAREST, KMM_HOST_TO_ZERO, KMM_HOST_UP, KMM_HOST_DOWN };

/* Returns the bits of a number rounded in a direction, given the number rounded to nearest and the
 * sign of `rest`, exact minus nearest. The number of next larger or smaller magnitude has the
 * adjacent bits, also next to zero and infinity. A NaN has rest NaN and stays as it is. */
template <kmm_host_direction direction, class kmm_Bits>
static inline kmm_Bits kmm_host_directed_bits(kmm_Bits bits, double rest)
{
    const bool is_negative = bits >> (8 * sizeof(kmm_Bits) - 1) != 0;
    const bool up =
        rest > 0 && (direction == KMM_HOST_UP || (direction == KMM_HOST_TO_ZERO && is_negative));
    const bool down =
        rest < 0 && (direction == KMM_HOST_DOWN || (direction == KMM_HOST_TO_ZERO && !is_negative));
    return (kmm_Bits)(bits + (up ? (is_negative ? -1 : 1) : down ? (is_negative ? 1 : -1) : 0));
}
template <kmm_host_direction direction>
static inline float kmm_host_directed(float nearest, double rest)
{
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof(bits));
    bits = kmm_host_directed_bits<direction>(bits, rest);
    memcpy(&nearest, &bits, sizeof(bits));
    return nearest;
}
template <kmm_host_direction direction>
static inline double kmm_host_directed(double nearest, double rest)
{
    uint64_t bits;
    memcpy(&bits, &nearest, sizeof(bits));
    bits = kmm_host_directed_bits<direction>(bits, rest);
    memcpy(&nearest, &bits, sizeof(bits));
    return nearest;
}

/* ---- Floats ---- */

/* a + b, where at most the last bit of the double is lost. An exact 0 is negative when rounded
 * down, unless both operands are positive zeros. */
template <kmm_host_direction direction> static inline float kmm_host_sum(double a, double b)
{
    const double sum = KMM_HOST_FENCE(a + b), part = KMM_HOST_FENCE(sum - a);
    const double lost = KMM_HOST_FENCE(a - KMM_HOST_FENCE(sum - part)) + KMM_HOST_FENCE(b - part);
    const float nearest = (float)sum;
    if (sum == 0)
        return direction == KMM_HOST_DOWN && (signbit(a) || signbit(b)) ? -0.0f : nearest;
    const double rest = sum - nearest;
    return kmm_host_directed<direction>(nearest, rest != 0 ? rest : lost);
}
template <kmm_host_direction direction> static inline float kmm_host_product(float a, float b)
{
    const double exact = (double)a * b;
    return kmm_host_directed<direction>((float)exact, exact - (float)exact);
}
template <kmm_host_direction direction> static inline float kmm_host_quotient(float a, float b)
{
    const float nearest = (float)((double)a / KMM_HOST_FENCE((double)b));
    const double rest = a - (double)nearest * b;
    return kmm_host_directed<direction>(nearest, b < 0 ? -rest : rest);
}
template <kmm_host_direction direction> static inline float kmm_host_root(float x)
{
    const float nearest = (float)sqrt((double)x);
    return kmm_host_directed<direction>(nearest, x - (double)nearest * nearest);
}
/* 1 / sqrt(x) lies between the nearest float and a neighbour. The square of a number between them
 * tells on which side. */
static inline float __frsqrt_rn(float x)
{
    const float first = (float)(1 / sqrt((double)x));
    if (!(x > 0) || isinf(x))
        return first;
    const double rest = fma(-(double)first * first, x, 1);
    const float second = rest > 0 ? kmm_host_directed<KMM_HOST_UP>(first, 1)
                                  : kmm_host_directed<KMM_HOST_DOWN>(first, -1);
    const double middle = ((double)first + second) / 2, beyond = fma(-middle * middle, x, 1);
    return rest != 0 && (rest > 0) == (beyond > 0) ? second : first;
}

#define KMM_HOST_ROUNDED(suffix, direction)                                                        \
    static inline float __fadd_##suffix(float a, float b)                                          \
    {                                                                                              \
        return kmm_host_sum<direction>(a, b);                                                      \
    }                                                                                              \
    static inline float __fsub_##suffix(float a, float b)                                          \
    {                                                                                              \
        return kmm_host_sum<direction>(a, -(double)b);                                             \
    }                                                                                              \
    static inline float __fmul_##suffix(float a, float b)                                          \
    {                                                                                              \
        return kmm_host_product<direction>(a, b);                                                  \
    }                                                                                              \
    static inline float __fmaf_##suffix(float a, float b, float c)                                 \
    {                                                                                              \
        return kmm_host_sum<direction>((double)a * b, c);                                          \
    }                                                                                              \
    static inline float __fdiv_##suffix(float a, float b)                                          \
    {                                                                                              \
        return kmm_host_quotient<direction>(a, b);                                                 \
    }                                                                                              \
    static inline float __frcp_##suffix(float x) { return kmm_host_quotient<direction>(1, x); }    \
    static inline float __fsqrt_##suffix(float x) { return kmm_host_root<direction>(x); }
KMM_HOST_ROUNDED(rz, KMM_HOST_TO_ZERO)
KMM_HOST_ROUNDED(ru, KMM_HOST_UP)
KMM_HOST_ROUNDED(rd, KMM_HOST_DOWN)
#undef KMM_HOST_ROUNDED
/* The compiler's own operations, except that they are never fused. */
static inline float __fadd_rn(float a, float b) { return KMM_HOST_FENCE(a + b); }
static inline float __fsub_rn(float a, float b) { return KMM_HOST_FENCE(a - b); }
static inline float __fmul_rn(float a, float b) { return KMM_HOST_FENCE(a * b); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fdiv_rn(float a, float b) { return a / KMM_HOST_FENCE(b); }
static inline float __frcp_rn(float x) { return 1 / KMM_HOST_FENCE(x); }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }

#define KMM_HOST_ROUNDED(suffix)                                                                   \
    static inline float __fmaf_ieee_##suffix(float a, float b, float c)                            \
    {                                                                                              \
        return __fmaf_##suffix(a, b, c);                                                           \
    }                                                                                              \
    static inline float2 __fadd2_##suffix(float2 a, float2 b)                                      \
    {                                                                                              \
        return float2{__fadd_##suffix(a.x, b.x), __fadd_##suffix(a.y, b.y)};                       \
    }                                                                                              \
    static inline float2 __fmul2_##suffix(float2 a, float2 b)                                      \
    {                                                                                              \
        return float2{__fmul_##suffix(a.x, b.x), __fmul_##suffix(a.y, b.y)};                       \
    }                                                                                              \
    static inline float2 __ffma2_##suffix(float2 a, float2 b, float2 c)                            \
    {                                                                                              \
        return float2{__fmaf_##suffix(a.x, b.x, c.x), __fmaf_##suffix(a.y, b.y, c.y)};             \
    }
KMM_HOST_ROUNDED(rn)
KMM_HOST_ROUNDED(rz)
KMM_HOST_ROUNDED(ru)
KMM_HOST_ROUNDED(rd)
#undef KMM_HOST_ROUNDED

/* ---- Doubles ---- */

enum kmm_host_operation {
    KMM_HOST_ADDED,
    KMM_HOST_MULTIPLIED,
    KMM_HOST_DIVIDED,
    KMM_HOST_FUSED,
    KMM_HOST_ROOT
};

#ifdef KMM_HOST_PARSE
double kmm_host_rounded(int mode, kmm_host_operation operation, double a, double b, double c);
#else
/* Computes one operation in another rounding mode. Never inlined, and its operands and result are
 * volatile, so that the compiler moves nothing else between the two changes of the mode. */
__attribute__((__noinline__)) inline double kmm_host_rounded(int mode, kmm_host_operation operation,
                                                             double a, double b, double c)
{
    const int before = fegetround();
    volatile double x = a, y = b, z = c, result = 0;
    fesetround(mode);
    switch (operation) {
    case KMM_HOST_ADDED: result = x + y; break;
    case KMM_HOST_MULTIPLIED: result = x * y; break;
    case KMM_HOST_DIVIDED: result = x / y; break;
    case KMM_HOST_FUSED: result = fma(x, y, z); break;
    case KMM_HOST_ROOT: result = sqrt(x); break;
    }
    fesetround(before);
    return result;
}
#endif

#define KMM_HOST_ROUNDED(suffix, mode)                                                             \
    static inline double __dadd_##suffix(double a, double b)                                       \
    {                                                                                              \
        return kmm_host_rounded(mode, KMM_HOST_ADDED, a, b, 0);                                    \
    }                                                                                              \
    static inline double __dsub_##suffix(double a, double b)                                       \
    {                                                                                              \
        return kmm_host_rounded(mode, KMM_HOST_ADDED, a, -b, 0);                                   \
    }                                                                                              \
    static inline double __dmul_##suffix(double a, double b)                                       \
    {                                                                                              \
        return kmm_host_rounded(mode, KMM_HOST_MULTIPLIED, a, b, 0);                               \
    }                                                                                              \
    static inline double __ddiv_##suffix(double a, double b)                                       \
    {                                                                                              \
        return kmm_host_rounded(mode, KMM_HOST_DIVIDED, a, b, 0);                                  \
    }                                                                                              \
    static inline double __drcp_##suffix(double x)                                                 \
    {                                                                                              \
        return kmm_host_rounded(mode, KMM_HOST_DIVIDED, 1, x, 0);                                  \
    }                                                                                              \
    static inline double __dsqrt_##suffix(double x)                                                \
    {                                                                                              \
        return kmm_host_rounded(mode, KMM_HOST_ROOT, x, 0, 0);                                     \
    }                                                                                              \
    static inline double __fma_##suffix(double a, double b, double c)                              \
    {                                                                                              \
        return kmm_host_rounded(mode, KMM_HOST_FUSED, a, b, c);                                    \
    }
KMM_HOST_ROUNDED(rz, FE_TOWARDZERO)
KMM_HOST_ROUNDED(ru, FE_UPWARD)
KMM_HOST_ROUNDED(rd, FE_DOWNWARD)
#undef KMM_HOST_ROUNDED
static inline double __dadd_rn(double a, double b) { return KMM_HOST_FENCE(a + b); }
static inline double __dsub_rn(double a, double b) { return KMM_HOST_FENCE(a - b); }
static inline double __dmul_rn(double a, double b) { return KMM_HOST_FENCE(a * b); }
static inline double __ddiv_rn(double a, double b) { return a / KMM_HOST_FENCE(b); }
static inline double __drcp_rn(double x) { return 1 / KMM_HOST_FENCE(x); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline double __dsqrt_rn(double x) { return sqrt(x); }

/* ---- From integers, and from double to float ---- */

template <class kmm_F, kmm_host_direction direction, class kmm_I>
static inline kmm_F kmm_host_from_integer(kmm_I x)
{
    const kmm_F nearest = (kmm_F)x;
    const kmm_host_int_16 rest = (kmm_host_int_16)x - (kmm_host_int_16)nearest;
    return kmm_host_directed<direction>(nearest, rest > 0 ? 1.0 : rest < 0 ? -1.0 : 0.0);
}
#define KMM_HOST_ROUNDED(suffix, direction)                                                        \
    static inline float __double2float_##suffix(double x)                                          \
    {                                                                                              \
        return kmm_host_directed<direction>((float)x, x - (float)x);                               \
    }                                                                                              \
    static inline float __int2float_##suffix(int x) { return __double2float_##suffix(x); }         \
    static inline float __uint2float_##suffix(unsigned x) { return __double2float_##suffix(x); }   \
    static inline float __ll2float_##suffix(long long x)                                           \
    {                                                                                              \
        return kmm_host_from_integer<float, direction>(x);                                         \
    }                                                                                              \
    static inline float __ull2float_##suffix(unsigned long long x)                                 \
    {                                                                                              \
        return kmm_host_from_integer<float, direction>(x);                                         \
    }                                                                                              \
    static inline double __ll2double_##suffix(long long x)                                         \
    {                                                                                              \
        return kmm_host_from_integer<double, direction>(x);                                        \
    }                                                                                              \
    static inline double __ull2double_##suffix(unsigned long long x)                               \
    {                                                                                              \
        return kmm_host_from_integer<double, direction>(x);                                        \
    }
KMM_HOST_ROUNDED(rz, KMM_HOST_TO_ZERO)
KMM_HOST_ROUNDED(ru, KMM_HOST_UP)
KMM_HOST_ROUNDED(rd, KMM_HOST_DOWN)
#undef KMM_HOST_ROUNDED
static inline float __double2float_rn(double x) { return (float)x; }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __ll2float_rn(long long x) { return (float)x; }
static inline float __ull2float_rn(unsigned long long x) { return (float)x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned x) { return x; }

/* ---- To integers: a value out of range becomes the largest or smallest integer, a NaN becomes
 * `none` ---- */

template <class kmm_I, class kmm_F> static inline kmm_I kmm_host_to_integer(kmm_F x, kmm_I none)
{
    const bool is_signed = (kmm_I)-1 < (kmm_I)0;
    const kmm_I most = is_signed ? (kmm_I)(((unsigned long long)1 << (8 * sizeof(kmm_I) - 1)) - 1)
                                 : (kmm_I)-1,
                least = is_signed ? (kmm_I)(-most - 1) : (kmm_I)0;
    const kmm_F end =
                    (kmm_F)((unsigned long long)1 << (8 * sizeof(kmm_I) - 1)) * (is_signed ? 1 : 2),
                low = is_signed ? -end : 0;
    const kmm_F last =
        /* the largest float below `end` */
        end - (end / (kmm_F)(sizeof(kmm_F) == 4 ? 1u << 24 : 1ull << 53));
    const kmm_F above = x >= low ? x : low, within = above < last ? above : last;
    const kmm_I result = (kmm_I)within;
    return x != x ? none : x >= end ? most : x < low ? least : result;
}
#define KMM_HOST_ROUNDED(suffix, to_float, to_double)                                              \
    static inline int __float2int_##suffix(float x)                                                \
    {                                                                                              \
        return kmm_host_to_integer<int>(to_float(x), 0);                                           \
    }                                                                                              \
    static inline unsigned __float2uint_##suffix(float x)                                          \
    {                                                                                              \
        return kmm_host_to_integer<unsigned>(to_float(x), 0u);                                     \
    }                                                                                              \
    static inline long long __float2ll_##suffix(float x)                                           \
    {                                                                                              \
        return kmm_host_to_integer<long long>(to_float(x), LLONG_MIN);                             \
    }                                                                                              \
    static inline unsigned long long __float2ull_##suffix(float x)                                 \
    {                                                                                              \
        return kmm_host_to_integer<unsigned long long>(to_float(x), 1ull << 63);                   \
    }                                                                                              \
    static inline int __double2int_##suffix(double x)                                              \
    {                                                                                              \
        return kmm_host_to_integer<int>(to_double(x), INT_MIN);                                    \
    }                                                                                              \
    static inline unsigned __double2uint_##suffix(double x)                                        \
    {                                                                                              \
        return kmm_host_to_integer<unsigned>(to_double(x), 1u << 31);                              \
    }                                                                                              \
    static inline long long __double2ll_##suffix(double x)                                         \
    {                                                                                              \
        return kmm_host_to_integer<long long>(to_double(x), LLONG_MIN);                            \
    }                                                                                              \
    static inline unsigned long long __double2ull_##suffix(double x)                               \
    {                                                                                              \
        return kmm_host_to_integer<unsigned long long>(to_double(x), 1ull << 63);                  \
    }
KMM_HOST_ROUNDED(rn, rintf, rint)
KMM_HOST_ROUNDED(rz, truncf, trunc)
KMM_HOST_ROUNDED(ru, ceilf, ceil)
KMM_HOST_ROUNDED(rd, floorf, floor)
#undef KMM_HOST_ROUNDED

#endif
