/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half and bfloat16: stored in 16 bits, computed as float and rounded to nearest even. A sum, product or quotient of two
 * is so as exact as if it had been rounded once.
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
            /* 2^112 moves the exponent, and makes normal numbers of the others. */
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
        if (bits < 0x38800000) { /* below 2^-14: the sum with 0.5 leaves the multiples of 2^-24 in the last bits */
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

template <class F> struct kmm_host_narrow {
    typedef F format;
    unsigned short bits;

    kmm_host_narrow() = default;
    template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
    kmm_host_narrow(T v) : bits(F::pack((float)v)) {}
    operator float() const { return F::unpack(bits); }
    template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value && !std::is_same<T, float>::value>::type>
    explicit operator T() const { return (T)F::unpack(bits); }

    friend kmm_host_narrow operator+(kmm_host_narrow a, kmm_host_narrow b) { return (float)a + (float)b; }
    friend kmm_host_narrow operator-(kmm_host_narrow a, kmm_host_narrow b) { return (float)a - (float)b; }
    friend kmm_host_narrow operator*(kmm_host_narrow a, kmm_host_narrow b) { return (float)a * (float)b; }
    friend kmm_host_narrow operator/(kmm_host_narrow a, kmm_host_narrow b) { return (float)a / (float)b; }
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
};

template <class F> struct __align__(4) kmm_host_narrow2 {
    kmm_host_narrow<F> x, y;
    kmm_host_narrow2() = default;
    kmm_host_narrow2(kmm_host_narrow<F> x, kmm_host_narrow<F> y) : x(x), y(y) {}

    friend kmm_host_narrow2 operator+(kmm_host_narrow2 a, kmm_host_narrow2 b) { return {a.x + b.x, a.y + b.y}; }
    friend kmm_host_narrow2 operator-(kmm_host_narrow2 a, kmm_host_narrow2 b) { return {a.x - b.x, a.y - b.y}; }
    friend kmm_host_narrow2 operator*(kmm_host_narrow2 a, kmm_host_narrow2 b) { return {a.x * b.x, a.y * b.y}; }
    friend kmm_host_narrow2 operator/(kmm_host_narrow2 a, kmm_host_narrow2 b) { return {a.x / b.x, a.y / b.y}; }
    friend kmm_host_narrow2 operator-(kmm_host_narrow2 a) { return {-a.x, -a.y}; }
    friend bool operator==(kmm_host_narrow2 a, kmm_host_narrow2 b) { return a.x == b.x && a.y == b.y; }
    kmm_host_narrow2 &operator+=(kmm_host_narrow2 b) { return *this = *this + b; }
    kmm_host_narrow2 &operator-=(kmm_host_narrow2 b) { return *this = *this - b; }
    kmm_host_narrow2 &operator*=(kmm_host_narrow2 b) { return *this = *this * b; }
};

typedef kmm_host_narrow<kmm_host_half_format> __half;
typedef kmm_host_narrow2<kmm_host_half_format> __half2;
typedef kmm_host_narrow<kmm_host_bfloat16_format> __nv_bfloat16;
typedef kmm_host_narrow2<kmm_host_bfloat16_format> __nv_bfloat162;

/* ---- Of both formats ---- */
#define KMM_HOST_ONE kmm_host_narrow<F>
#define KMM_HOST_TWO kmm_host_narrow2<F>
#define KMM_HOST_DEFINE template <class F> static inline

#define KMM_HOST_BINARY(name, expression)                                                          \
    KMM_HOST_DEFINE KMM_HOST_ONE __h##name(KMM_HOST_ONE a, KMM_HOST_ONE b) { return expression; }  \
    KMM_HOST_DEFINE KMM_HOST_TWO __h##name##2(KMM_HOST_TWO a, KMM_HOST_TWO b) { return {__h##name(a.x, b.x), __h##name(a.y, b.y)}; }
KMM_HOST_BINARY(add, a + b) KMM_HOST_BINARY(sub, a - b) KMM_HOST_BINARY(mul, a * b)
KMM_HOST_BINARY(max, fmaxf((float)a, (float)b)) KMM_HOST_BINARY(min, fminf((float)a, (float)b))
KMM_HOST_BINARY(add_rn, a + b) KMM_HOST_BINARY(sub_rn, a - b) KMM_HOST_BINARY(mul_rn, a * b)
KMM_HOST_BINARY(add_sat, fminf(fmaxf((float)a + (float)b, 0), 1))
#undef KMM_HOST_BINARY
KMM_HOST_DEFINE KMM_HOST_ONE __hdiv(KMM_HOST_ONE a, KMM_HOST_ONE b) { return a / b; }
KMM_HOST_DEFINE KMM_HOST_TWO __h2div(KMM_HOST_TWO a, KMM_HOST_TWO b) { return a / b; }
KMM_HOST_DEFINE KMM_HOST_ONE __hfma(KMM_HOST_ONE a, KMM_HOST_ONE b, KMM_HOST_ONE c) { return (double)(float)a * (float)b + (float)c; }
KMM_HOST_DEFINE KMM_HOST_TWO __hfma2(KMM_HOST_TWO a, KMM_HOST_TWO b, KMM_HOST_TWO c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
KMM_HOST_DEFINE KMM_HOST_ONE __hneg(KMM_HOST_ONE a) { return -a; }
KMM_HOST_DEFINE KMM_HOST_TWO __hneg2(KMM_HOST_TWO a) { return -a; }
KMM_HOST_DEFINE KMM_HOST_ONE __habs(KMM_HOST_ONE a) { return fabsf((float)a); }
KMM_HOST_DEFINE KMM_HOST_TWO __habs2(KMM_HOST_TWO a) { return {__habs(a.x), __habs(a.y)}; }
KMM_HOST_DEFINE bool __hisnan(KMM_HOST_ONE a) { return (float)a != (float)a; }
KMM_HOST_DEFINE int __hisinf(KMM_HOST_ONE a) { return (float)a == INFINITY ? 1 : (float)a == -INFINITY ? -1 : 0; }

#define KMM_HOST_COMPARE(name, op)                                                                 \
    KMM_HOST_DEFINE bool __h##name(KMM_HOST_ONE a, KMM_HOST_ONE b) { return a op b; }              \
    KMM_HOST_DEFINE bool __hb##name##2(KMM_HOST_TWO a, KMM_HOST_TWO b) { return a.x op b.x && a.y op b.y; } \
    KMM_HOST_DEFINE KMM_HOST_TWO __h##name##2(KMM_HOST_TWO a, KMM_HOST_TWO b) { return {a.x op b.x, a.y op b.y}; }
KMM_HOST_COMPARE(eq, ==) KMM_HOST_COMPARE(ne, !=) KMM_HOST_COMPARE(lt, <) KMM_HOST_COMPARE(gt, >) KMM_HOST_COMPARE(le, <=) KMM_HOST_COMPARE(ge, >=)
#undef KMM_HOST_COMPARE

#define KMM_HOST_FUNCTION(name, expression)                                                        \
    KMM_HOST_DEFINE KMM_HOST_ONE h##name(KMM_HOST_ONE h) { const float a = h; return expression; } \
    KMM_HOST_DEFINE KMM_HOST_TWO h2##name(KMM_HOST_TWO a) { return {h##name(a.x), h##name(a.y)}; }
KMM_HOST_FUNCTION(exp, expf(a)) KMM_HOST_FUNCTION(exp2, exp2f(a)) KMM_HOST_FUNCTION(exp10, powf(10, a)) KMM_HOST_FUNCTION(log, logf(a))
KMM_HOST_FUNCTION(log2, log2f(a)) KMM_HOST_FUNCTION(log10, log10f(a)) KMM_HOST_FUNCTION(sqrt, sqrtf(a)) KMM_HOST_FUNCTION(rsqrt, 1 / sqrtf(a))
KMM_HOST_FUNCTION(rcp, 1 / a) KMM_HOST_FUNCTION(sin, sinf(a)) KMM_HOST_FUNCTION(cos, cosf(a)) KMM_HOST_FUNCTION(tanh, tanhf(a))
KMM_HOST_FUNCTION(ceil, ceilf(a)) KMM_HOST_FUNCTION(floor, floorf(a)) KMM_HOST_FUNCTION(trunc, truncf(a)) KMM_HOST_FUNCTION(rint, rintf(a))
#undef KMM_HOST_FUNCTION

/* One that failed is tried again: there is no atomic of two bytes that adds. */
KMM_HOST_DEFINE KMM_HOST_ONE atomicAdd(KMM_HOST_ONE *p, KMM_HOST_ONE v) { return kmm_host_atomic(p, [v](KMM_HOST_ONE a) { return a + v; }); }
KMM_HOST_DEFINE KMM_HOST_TWO atomicAdd(KMM_HOST_TWO *p, KMM_HOST_TWO v) { return kmm_host_atomic(p, [v](KMM_HOST_TWO a) { return a + v; }); }

/* ---- Conversions, which name their format ---- */
KMM_HOST_DEFINE float kmm_host_wide(KMM_HOST_ONE a) { return a; }
KMM_HOST_DEFINE float __low2float(KMM_HOST_TWO a) { return a.x; }
KMM_HOST_DEFINE float __high2float(KMM_HOST_TWO a) { return a.y; }

#define KMM_HOST_CONVERSIONS(one, two, name, name2, pair)                                          \
    static inline one __float2##name(float a) { return a; }                                        \
    static inline one __float2##name##_rn(float a) { return a; }                                   \
    static inline one __double2##name(double a) { return a; }                                      \
    static inline one __int2##name##_rn(int a) { return a; }                                       \
    static inline one __uint2##name##_rn(unsigned a) { return a; }                                 \
    static inline one __short2##name##_rn(short a) { return a; }                                   \
    static inline float __##name##2float(one a) { return a; }                                      \
    static inline int __##name##2int_rn(one a) { return (int)rintf((float)a); }                    \
    static inline int __##name##2int_rz(one a) { return (int)(float)a; }                           \
    static inline unsigned short __##name##_as_ushort(one a) { return a.bits; }                    \
    static inline short __##name##_as_short(one a) { return (short)a.bits; }                       \
    static inline one __ushort_as_##name(unsigned short a) { one r; r.bits = a; return r; }        \
    static inline one __short_as_##name(short a) { one r; r.bits = (unsigned short)a; return r; }  \
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
static inline __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }

#undef KMM_HOST_ONE
#undef KMM_HOST_TWO
#undef KMM_HOST_DEFINE
#endif
