/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half and bfloat16: stored in 16 bits, computed as float, rounded to nearest even. The result of
 * one operation on two numbers is correctly rounded, because a float has enough extra bits. A
 * result with more bits than a float has is first rounded to an odd float (kmm_host_odd), which
 * keeps the second rounding correct.
 */
#ifndef KMM_HOST_HALF_H
#define KMM_HOST_HALF_H

struct kmm_host_half_format {
    static inline float unpack(unsigned short h)
    {
        const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
        uint32_t bits;
        float value;
        if (rest >= 0x7c00) {
            bits = sign | 0x7f800000u | (rest & 0x3ff) << 13;
        } else {
            /* a subnormal number: scaling by 2^112 corrects the exponent and makes it normal */
            bits = rest << 13;
            memcpy(&value, &bits, sizeof(value));
            value *= 5.192296858534828e33f;
            memcpy(&bits, &value, sizeof(bits));
            bits |= sign;
        }
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
    static inline unsigned short pack(float value)
    {
        uint32_t bits;
        memcpy(&bits, &value, sizeof(bits));
        const unsigned sign = bits >> 16 & 0x8000;
        bits &= 0x7fffffff;
        if (bits > 0x7f800000)
            return (unsigned short)(sign | 0x7fff);
        if (bits >= 0x477ff000) /* rounds to more than 65504 */
            return (unsigned short)(sign | 0x7c00);
        if (bits < 0x38800000) { /* below 2^-14: the sum with 0.5 leaves the multiples of 2^-24 in
                                    the last bits */
            float small;
            memcpy(&small, &bits, sizeof(small));
            small += 0.5f;
            memcpy(&bits, &small, sizeof(bits));
            return (unsigned short)(sign | (bits - 0x3f000000));
        }
        bits += 0xfff + (bits >> 13 & 1);
        return (unsigned short)(sign | (bits - 0x38000000) >> 13);
    }
};

struct kmm_host_bfloat16_format {
    static inline float unpack(unsigned short h)
    {
        const uint32_t bits = (uint32_t)h << 16;
        float value;
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
    static inline unsigned short pack(float value)
    {
        uint32_t bits;
        memcpy(&bits, &value, sizeof(bits));
        if ((bits & 0x7fffffff) > 0x7f800000)
            return 0x7fff;
        return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
};

/* Rounds x to odd: returns x if it is a float, else the neighbouring float whose last bit is 1. A
 * later rounding to fewer bits then still sees on which side of a midpoint x lies. */
static inline float kmm_host_odd(double x)
{
    const float cut = kmm_host_directed<KMM_HOST_TO_ZERO>((float)x, x - (float)x);
    uint32_t bits;
    memcpy(&bits, &cut, sizeof(bits));
    bits |= cut != x && x == x;
    float odd;
    memcpy(&odd, &bits, sizeof(odd));
    return odd;
}
template <class kmm_I> static inline double kmm_host_odd_double(kmm_I x)
{
    double cut = kmm_host_from_integer<double, KMM_HOST_TO_ZERO>(x);
    uint64_t bits;
    memcpy(&bits, &cut, sizeof(bits));
    bits |= (kmm_host_int_16)cut != (kmm_host_int_16)x;
    memcpy(&cut, &bits, sizeof(cut));
    return cut;
}
static inline float kmm_host_odd(float x) { return x; }
static inline float kmm_host_odd(long double x) { return kmm_host_odd((double)x); }
static inline float kmm_host_odd(long long x) { return kmm_host_odd(kmm_host_odd_double(x)); }
static inline float kmm_host_odd(unsigned long long x)
{
    return kmm_host_odd(kmm_host_odd_double(x));
}
static inline float kmm_host_odd(long x) { return kmm_host_odd((long long)x); }
static inline float kmm_host_odd(unsigned long x) { return kmm_host_odd((unsigned long long)x); }
static inline float kmm_host_odd(int x) { return kmm_host_odd((double)x); }
static inline float kmm_host_odd(unsigned x) { return kmm_host_odd((double)x); }
template <class kmm_T> static inline float kmm_host_odd(kmm_T x)
{
    return (float)x;
} /* of at most 16 bits */

struct kmm_host_raw {
    unsigned short x;
};
struct kmm_host_raw2 {
    unsigned short x, y;
};

template <class kmm_F> struct kmm_host_narrow {
    typedef kmm_F format;
    unsigned short bits;

    kmm_host_narrow() = default;
    template <class kmm_T, class = typename std::enable_if<std::is_arithmetic<kmm_T>::value>::type>
    kmm_host_narrow(kmm_T v) : bits(kmm_F::pack(kmm_host_odd(v)))
    {
    }
    kmm_host_narrow(kmm_host_raw r) : bits(r.x) {}
    operator kmm_host_raw() const { return kmm_host_raw{bits}; }
    operator float() const { return kmm_F::unpack(bits); }
    template <class kmm_T,
              class = typename std::enable_if<std::is_arithmetic<kmm_T>::value &&
                                              !std::is_same<kmm_T, float>::value>::type>
    explicit operator kmm_T() const
    {
        return (kmm_T)kmm_F::unpack(bits);
    }

    friend kmm_host_narrow operator+(kmm_host_narrow a, kmm_host_narrow b)
    {
        return (float)a + (float)b;
    }
    friend kmm_host_narrow operator-(kmm_host_narrow a, kmm_host_narrow b)
    {
        return (float)a - (float)b;
    }
    friend kmm_host_narrow operator*(kmm_host_narrow a, kmm_host_narrow b)
    {
        return (float)a * (float)b;
    }
    friend kmm_host_narrow operator/(kmm_host_narrow a, kmm_host_narrow b)
    {
        return (float)a / (float)b;
    }
    friend kmm_host_narrow operator-(kmm_host_narrow a) { return -(float)a; }
    friend kmm_host_narrow operator+(kmm_host_narrow a) { return a; }
    friend bool operator==(kmm_host_narrow a, kmm_host_narrow b) { return (float)a == (float)b; }
    friend bool operator!=(kmm_host_narrow a, kmm_host_narrow b) { return (float)a != (float)b; }
    friend bool operator<(kmm_host_narrow a, kmm_host_narrow b) { return (float)a < (float)b; }
    friend bool operator>(kmm_host_narrow a, kmm_host_narrow b) { return (float)a > (float)b; }
    friend bool operator<=(kmm_host_narrow a, kmm_host_narrow b) { return (float)a <= (float)b; }
    friend bool operator>=(kmm_host_narrow a, kmm_host_narrow b) { return (float)a >= (float)b; }
    kmm_host_narrow &operator+=(kmm_host_narrow b) { return *this = *this + b; }
    kmm_host_narrow &operator-=(kmm_host_narrow b) { return *this = *this - b; }
    kmm_host_narrow &operator*=(kmm_host_narrow b) { return *this = *this * b; }
    kmm_host_narrow &operator/=(kmm_host_narrow b) { return *this = *this / b; }
    kmm_host_narrow &operator++() { return *this = (float)*this + 1; }
    kmm_host_narrow &operator--() { return *this = (float)*this - 1; }
    kmm_host_narrow operator++(int)
    {
        const kmm_host_narrow was = *this;
        ++*this;
        return was;
    }
    kmm_host_narrow operator--(int)
    {
        const kmm_host_narrow was = *this;
        --*this;
        return was;
    }
};

template <class kmm_F> struct __align__(4) kmm_host_narrow2 {
    kmm_host_narrow<kmm_F> x, y;
    kmm_host_narrow2() = default;
    kmm_host_narrow2(kmm_host_narrow<kmm_F> x, kmm_host_narrow<kmm_F> y) : x(x), y(y) {}
    kmm_host_narrow2(kmm_host_raw2 r) : x(kmm_host_raw{r.x}), y(kmm_host_raw{r.y}) {}
    operator kmm_host_raw2() const { return kmm_host_raw2{x.bits, y.bits}; }

    friend kmm_host_narrow2 operator+(kmm_host_narrow2 a, kmm_host_narrow2 b)
    {
        return {a.x + b.x, a.y + b.y};
    }
    friend kmm_host_narrow2 operator-(kmm_host_narrow2 a, kmm_host_narrow2 b)
    {
        return {a.x - b.x, a.y - b.y};
    }
    friend kmm_host_narrow2 operator*(kmm_host_narrow2 a, kmm_host_narrow2 b)
    {
        return {a.x * b.x, a.y * b.y};
    }
    friend kmm_host_narrow2 operator/(kmm_host_narrow2 a, kmm_host_narrow2 b)
    {
        return {a.x / b.x, a.y / b.y};
    }
    friend kmm_host_narrow2 operator-(kmm_host_narrow2 a) { return {-a.x, -a.y}; }
    friend kmm_host_narrow2 operator+(kmm_host_narrow2 a) { return a; }
    friend bool operator==(kmm_host_narrow2 a, kmm_host_narrow2 b)
    {
        return a.x == b.x && a.y == b.y;
    }
    friend bool operator!=(kmm_host_narrow2 a, kmm_host_narrow2 b)
    {
        return a.x != b.x && a.y != b.y;
    }
    friend bool operator<(kmm_host_narrow2 a, kmm_host_narrow2 b) { return a.x < b.x && a.y < b.y; }
    friend bool operator>(kmm_host_narrow2 a, kmm_host_narrow2 b) { return a.x > b.x && a.y > b.y; }
    friend bool operator<=(kmm_host_narrow2 a, kmm_host_narrow2 b)
    {
        return a.x <= b.x && a.y <= b.y;
    }
    friend bool operator>=(kmm_host_narrow2 a, kmm_host_narrow2 b)
    {
        return a.x >= b.x && a.y >= b.y;
    }
    kmm_host_narrow2 &operator+=(kmm_host_narrow2 b) { return *this = *this + b; }
    kmm_host_narrow2 &operator-=(kmm_host_narrow2 b) { return *this = *this - b; }
    kmm_host_narrow2 &operator*=(kmm_host_narrow2 b) { return *this = *this * b; }
    kmm_host_narrow2 &operator/=(kmm_host_narrow2 b) { return *this = *this / b; }
    kmm_host_narrow2 &operator++() { return *this = kmm_host_narrow2(x + 1, y + 1); }
    kmm_host_narrow2 &operator--() { return *this = kmm_host_narrow2(x - 1, y - 1); }
    kmm_host_narrow2 operator++(int)
    {
        const kmm_host_narrow2 was = *this;
        ++*this;
        return was;
    }
    kmm_host_narrow2 operator--(int)
    {
        const kmm_host_narrow2 was = *this;
        --*this;
        return was;
    }
};

typedef kmm_host_narrow<kmm_host_half_format> __half;
typedef kmm_host_narrow2<kmm_host_half_format> __half2;
typedef kmm_host_narrow<kmm_host_bfloat16_format> __nv_bfloat16;
typedef kmm_host_narrow2<kmm_host_bfloat16_format> __nv_bfloat162;
typedef kmm_host_raw __half_raw, __nv_bfloat16_raw;
typedef kmm_host_raw2 __half2_raw, __nv_bfloat162_raw;

/* ---- Functions of both formats ---- */
#define KMM_HOST_ONE kmm_host_narrow<kmm_F>
#define KMM_HOST_TWO kmm_host_narrow2<kmm_F>
#define KMM_HOST_DEFINE template <class kmm_F> static inline

/* Returns the larger or the smaller number. +0 counts as larger than -0. If one is a NaN, returns
 * the other. */
static inline float kmm_host_larger(float a, float b)
{
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}
static inline float kmm_host_smaller(float a, float b)
{
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
static inline float kmm_host_within_1(float a) { return a > 0 ? (a < 1 ? a : 1) : 0; }
static inline float kmm_host_at_least_0(float a) { return a < 0 ? 0 : a; }

#define KMM_HOST_BINARY(name, name2, expression)                                                   \
    KMM_HOST_DEFINE KMM_HOST_ONE name(KMM_HOST_ONE a, KMM_HOST_ONE b) { return expression; }       \
    KMM_HOST_DEFINE KMM_HOST_TWO name2(KMM_HOST_TWO a, KMM_HOST_TWO b)                             \
    {                                                                                              \
        return {name(a.x, b.x), name(a.y, b.y)};                                                   \
    }
KMM_HOST_BINARY(__hadd, __hadd2, a + b)
KMM_HOST_BINARY(__hsub, __hsub2, a - b)
KMM_HOST_BINARY(__hmul, __hmul2, a *b)
KMM_HOST_BINARY(__hdiv, __h2div, a / b)
KMM_HOST_BINARY(__hadd_rn, __hadd2_rn, a + b)
KMM_HOST_BINARY(__hsub_rn, __hsub2_rn, a - b)
KMM_HOST_BINARY(__hmul_rn, __hmul2_rn, a *b)
KMM_HOST_BINARY(__hadd_sat, __hadd2_sat, kmm_host_within_1((float)a + (float)b))
KMM_HOST_BINARY(__hsub_sat, __hsub2_sat, kmm_host_within_1((float)a - (float)b))
KMM_HOST_BINARY(__hmul_sat, __hmul2_sat, kmm_host_within_1((float)a *(float)b))
KMM_HOST_BINARY(__hmax, __hmax2, kmm_host_larger(a, b))
KMM_HOST_BINARY(__hmin, __hmin2, kmm_host_smaller(a, b))
KMM_HOST_BINARY(__hmax_nan, __hmax2_nan, a != a || b != b ? (float)NAN : kmm_host_larger(a, b))
KMM_HOST_BINARY(__hmin_nan, __hmin2_nan, a != a || b != b ? (float)NAN : kmm_host_smaller(a, b))
#undef KMM_HOST_BINARY

/* Returns a * b + c. The product is exact as a double. If the sum is inexact, its last bit is made
 * 1. */
static inline float kmm_host_fused(float a, float b, float c)
{
    const double product = (double)a * b, sum = KMM_HOST_FENCE(product + c),
                 part = KMM_HOST_FENCE(sum - product);
    const double lost =
        KMM_HOST_FENCE(product - KMM_HOST_FENCE(sum - part)) + KMM_HOST_FENCE(c - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof(bits));
    if (lost != 0 && lost == lost && !(bits & 1))
        bits += (lost > 0) == (sum > 0) ? 1 : -1;
    double odd;
    memcpy(&odd, &bits, sizeof(odd));
    return kmm_host_odd(odd);
}
#define KMM_HOST_TERNARY(name, name2, expression)                                                  \
    KMM_HOST_DEFINE KMM_HOST_ONE name(KMM_HOST_ONE a, KMM_HOST_ONE b, KMM_HOST_ONE c)              \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    KMM_HOST_DEFINE KMM_HOST_TWO name2(KMM_HOST_TWO a, KMM_HOST_TWO b, KMM_HOST_TWO c)             \
    {                                                                                              \
        return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};                                         \
    }
KMM_HOST_TERNARY(__hfma, __hfma2, kmm_host_fused(a, b, c))
KMM_HOST_TERNARY(__hfma_sat, __hfma2_sat, kmm_host_within_1(kmm_host_fused(a, b, c)))
KMM_HOST_TERNARY(__hfma_relu, __hfma2_relu, kmm_host_at_least_0(kmm_host_fused(a, b, c)))
#undef KMM_HOST_TERNARY
/* a * b + c of complex numbers. */
KMM_HOST_DEFINE KMM_HOST_TWO __hcmadd(KMM_HOST_TWO a, KMM_HOST_TWO b, KMM_HOST_TWO c)
{
    return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}
KMM_HOST_DEFINE KMM_HOST_ONE kmm_host_of_bits(unsigned bits)
{
    KMM_HOST_ONE r;
    r.bits = (unsigned short)bits;
    return r;
}
KMM_HOST_DEFINE KMM_HOST_ONE __hneg(KMM_HOST_ONE a)
{
    return kmm_host_of_bits<kmm_F>(a.bits ^ 0x8000u);
}
KMM_HOST_DEFINE KMM_HOST_TWO __hneg2(KMM_HOST_TWO a) { return {__hneg(a.x), __hneg(a.y)}; }
KMM_HOST_DEFINE KMM_HOST_ONE __habs(KMM_HOST_ONE a)
{
    return kmm_host_of_bits<kmm_F>(a.bits & 0x7fffu);
}
KMM_HOST_DEFINE KMM_HOST_TWO __habs2(KMM_HOST_TWO a) { return {__habs(a.x), __habs(a.y)}; }
KMM_HOST_DEFINE bool __hisnan(KMM_HOST_ONE a) { return (float)a != (float)a; }
KMM_HOST_DEFINE KMM_HOST_TWO __hisnan2(KMM_HOST_TWO a) { return {__hisnan(a.x), __hisnan(a.y)}; }
KMM_HOST_DEFINE int __hisinf(KMM_HOST_ONE a)
{
    return (float)a == INFINITY ? 1 : (float)a == -INFINITY ? -1 : 0;
}

/* Comparisons. Names that end in u are true if an operand is a NaN; the others are false. */
#define KMM_HOST_COMPARE(name, holds)                                                              \
    KMM_HOST_DEFINE bool __h##name(KMM_HOST_ONE h, KMM_HOST_ONE g)                                 \
    {                                                                                              \
        const float a = h, b = g;                                                                  \
        return holds;                                                                              \
    }                                                                                              \
    KMM_HOST_DEFINE bool __hb##name##2(KMM_HOST_TWO a, KMM_HOST_TWO b)                             \
    {                                                                                              \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                         \
    }                                                                                              \
    KMM_HOST_DEFINE KMM_HOST_TWO __h##name##2(KMM_HOST_TWO a, KMM_HOST_TWO b)                      \
    {                                                                                              \
        return {__h##name(a.x, b.x), __h##name(a.y, b.y)};                                         \
    }                                                                                              \
    KMM_HOST_DEFINE unsigned __h##name##2_mask(KMM_HOST_TWO a, KMM_HOST_TWO b)                     \
    {                                                                                              \
        return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);    \
    }
KMM_HOST_COMPARE(eq, a == b)
KMM_HOST_COMPARE(ne, a<b || a> b)
KMM_HOST_COMPARE(lt, a < b)
KMM_HOST_COMPARE(gt, a > b)
KMM_HOST_COMPARE(le, a <= b)
KMM_HOST_COMPARE(ge, a >= b)
KMM_HOST_COMPARE(equ, !(a < b || a > b))
KMM_HOST_COMPARE(neu, a != b)
KMM_HOST_COMPARE(ltu, !(a >= b))
KMM_HOST_COMPARE(gtu, !(a <= b))
KMM_HOST_COMPARE(leu, !(a > b))
KMM_HOST_COMPARE(geu, !(a < b))
#undef KMM_HOST_COMPARE

#define KMM_HOST_FUNCTION(name, expression)                                                        \
    KMM_HOST_DEFINE KMM_HOST_ONE h##name(KMM_HOST_ONE h)                                           \
    {                                                                                              \
        const float a = h;                                                                         \
        return expression;                                                                         \
    }                                                                                              \
    KMM_HOST_DEFINE KMM_HOST_TWO h2##name(KMM_HOST_TWO a) { return {h##name(a.x), h##name(a.y)}; }
KMM_HOST_FUNCTION(exp, expf(a))
KMM_HOST_FUNCTION(exp2, exp2f(a))
KMM_HOST_FUNCTION(exp10, powf(10, a))
KMM_HOST_FUNCTION(log, logf(a))
KMM_HOST_FUNCTION(log2, log2f(a))
KMM_HOST_FUNCTION(log10, log10f(a))
KMM_HOST_FUNCTION(sqrt, sqrtf(a))
KMM_HOST_FUNCTION(rsqrt, 1 / sqrtf(a))
KMM_HOST_FUNCTION(rcp, 1 / a)
KMM_HOST_FUNCTION(sin, sinf(a))
KMM_HOST_FUNCTION(cos, cosf(a))
KMM_HOST_FUNCTION(tanh, tanhf(a))
KMM_HOST_FUNCTION(tanh_approx, tanhf(a))
KMM_HOST_FUNCTION(ceil, ceilf(a))
KMM_HOST_FUNCTION(floor, floorf(a))
KMM_HOST_FUNCTION(trunc, truncf(a))
KMM_HOST_FUNCTION(rint, rintf(a))
#undef KMM_HOST_FUNCTION

/* A compare-and-swap loop, since processors have no atomic addition of two bytes. */
KMM_HOST_DEFINE KMM_HOST_ONE atomicAdd(KMM_HOST_ONE *p, KMM_HOST_ONE v)
{
    return kmm_host_atomic(p, [v](KMM_HOST_ONE a) { return a + v; });
}
KMM_HOST_DEFINE KMM_HOST_TWO atomicAdd(KMM_HOST_TWO *p, KMM_HOST_TWO v)
{
    return kmm_host_atomic(p, [v](KMM_HOST_TWO a) { return a + v; });
}

/* ---- Conversions; the format is part of the name ---- */
KMM_HOST_DEFINE float kmm_host_wide(KMM_HOST_ONE a) { return a; }
KMM_HOST_DEFINE float __low2float(KMM_HOST_TWO a) { return a.x; }
KMM_HOST_DEFINE float __high2float(KMM_HOST_TWO a) { return a.y; }

/* Returns x rounded in another direction, given x rounded to nearest. */
template <kmm_host_direction direction, class kmm_F>
static inline KMM_HOST_ONE kmm_host_narrowed(double x, KMM_HOST_ONE nearest)
{
    return kmm_host_of_bits<kmm_F>(
        kmm_host_directed_bits<direction>(nearest.bits, x - (double)(float)nearest));
}
#define KMM_HOST_DIRECTED(one, name, suffix, direction, round)                                     \
    static inline one __float2##name##_##suffix(float a)                                           \
    {                                                                                              \
        return kmm_host_narrowed<direction>(a, one(a));                                            \
    }                                                                                              \
    static inline one __int2##name##_##suffix(int a)                                               \
    {                                                                                              \
        return kmm_host_narrowed<direction>(a, one(a));                                            \
    }                                                                                              \
    static inline one __uint2##name##_##suffix(unsigned a)                                         \
    {                                                                                              \
        return kmm_host_narrowed<direction>(a, one(a));                                            \
    }                                                                                              \
    static inline one __short2##name##_##suffix(short a)                                           \
    {                                                                                              \
        return kmm_host_narrowed<direction>(a, one(a));                                            \
    }                                                                                              \
    static inline one __ushort2##name##_##suffix(unsigned short a)                                 \
    {                                                                                              \
        return kmm_host_narrowed<direction>(a, one(a));                                            \
    }                                                                                              \
    static inline one __ll2##name##_##suffix(long long a)                                          \
    {                                                                                              \
        return kmm_host_narrowed<direction>(kmm_host_odd_double(a), one(a));                       \
    }                                                                                              \
    static inline one __ull2##name##_##suffix(unsigned long long a)                                \
    {                                                                                              \
        return kmm_host_narrowed<direction>(kmm_host_odd_double(a), one(a));                       \
    }                                                                                              \
    static inline int __##name##2int_##suffix(one a)                                               \
    {                                                                                              \
        return kmm_host_to_integer<int>(round((float)a), 0);                                       \
    }                                                                                              \
    static inline unsigned __##name##2uint_##suffix(one a)                                         \
    {                                                                                              \
        return kmm_host_to_integer<unsigned>(round((float)a), 0u);                                 \
    }                                                                                              \
    static inline short __##name##2short_##suffix(one a)                                           \
    {                                                                                              \
        return kmm_host_to_integer<short>(round((float)a), (short)0);                              \
    }                                                                                              \
    static inline unsigned short __##name##2ushort_##suffix(one a)                                 \
    {                                                                                              \
        return kmm_host_to_integer<unsigned short>(round((float)a), (unsigned short)0);            \
    }                                                                                              \
    static inline long long __##name##2ll_##suffix(one a)                                          \
    {                                                                                              \
        return kmm_host_to_integer<long long>(round((float)a), LLONG_MIN);                         \
    }                                                                                              \
    static inline unsigned long long __##name##2ull_##suffix(one a)                                \
    {                                                                                              \
        return kmm_host_to_integer<unsigned long long>(round((float)a), 1ull << 63);               \
    }
#define KMM_HOST_CONVERSIONS(one, two, name, name2, pair)                                          \
    KMM_HOST_DIRECTED(one, name, rn, KMM_HOST_NEAREST, rintf)                                      \
    KMM_HOST_DIRECTED(one, name, rz, KMM_HOST_TO_ZERO, truncf)                                     \
    KMM_HOST_DIRECTED(one, name, ru, KMM_HOST_UP, ceilf)                                           \
    KMM_HOST_DIRECTED(one, name, rd, KMM_HOST_DOWN, floorf)                                        \
    static inline one __float2##name(float a) { return a; }                                        \
    static inline one __double2##name(double a) { return a; }                                      \
    static inline float __##name##2float(one a) { return a; }                                      \
    static inline signed char __##name##2char_rz(one a)                                            \
    {                                                                                              \
        return kmm_host_to_integer<signed char>(truncf((float)a), (signed char)0);                 \
    }                                                                                              \
    static inline unsigned char __##name##2uchar_rz(one a)                                         \
    {                                                                                              \
        return kmm_host_to_integer<unsigned char>(truncf((float)a), (unsigned char)0);             \
    }                                                                                              \
    static inline unsigned short __##name##_as_ushort(one a) { return a.bits; }                    \
    static inline short __##name##_as_short(one a) { return (short)a.bits; }                       \
    static inline one __ushort_as_##name(unsigned short a)                                         \
    {                                                                                              \
        one r;                                                                                     \
        r.bits = a;                                                                                \
        return r;                                                                                  \
    }                                                                                              \
    static inline one __short_as_##name(short a)                                                   \
    {                                                                                              \
        one r;                                                                                     \
        r.bits = (unsigned short)a;                                                                \
        return r;                                                                                  \
    }                                                                                              \
    static inline two __float2##name2##_rn(float a) { return {a, a}; }                             \
    static inline two __floats2##name2##_rn(float a, float b) { return {a, b}; }                   \
    static inline two __float22##name2##_rn(float2 a) { return {a.x, a.y}; }                       \
    static inline float2 __##name##22float2(two a) { return float2{a.x, a.y}; }                    \
    static inline two pair(one a, one b) { return {a, b}; }                                        \
    static inline one __low2##name(two a) { return a.x; }                                          \
    static inline one __high2##name(two a) { return a.y; }                                         \
    static inline two __##name##2##name2(one a) { return {a, a}; }                                 \
    static inline two __low2##name2(two a) { return {a.x, a.x}; }                                  \
    static inline two __high2##name2(two a) { return {a.y, a.y}; }                                 \
    static inline two __lows2##name2(two a, two b) { return {a.x, b.x}; }                          \
    static inline two __highs2##name2(two a, two b) { return {a.y, b.y}; }                         \
    static inline two make_##name2(one a, one b) { return {a, b}; }
KMM_HOST_CONVERSIONS(__half, __half2, half, half2, __halves2half2)
KMM_HOST_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162, __halves2bfloat162)
#undef KMM_HOST_CONVERSIONS
#undef KMM_HOST_DIRECTED
KMM_HOST_DEFINE KMM_HOST_TWO __lowhigh2highlow(KMM_HOST_TWO a) { return {a.y, a.x}; }

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)

#undef KMM_HOST_ONE
#undef KMM_HOST_TWO
#undef KMM_HOST_DEFINE
#endif
