/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's mathematical functions and intrinsics that the C library does not have. */
#ifndef KMM_HOST_MATH_FUNCTIONS_H
#define KMM_HOST_MATH_FUNCTIONS_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* ---- min and max of mixed arithmetic types, as CUDA has them ---- */
#define KMM_MIN_MAX(T)                                                                             \
    static inline constexpr T min(T a, T b) { return b < a ? b : a; }                              \
    static inline constexpr T max(T a, T b) { return a < b ? b : a; }
KMM_MIN_MAX(int)
KMM_MIN_MAX(unsigned)
KMM_MIN_MAX(long)
KMM_MIN_MAX(unsigned long)
KMM_MIN_MAX(long long)
KMM_MIN_MAX(unsigned long long)
#undef KMM_MIN_MAX
static inline constexpr unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
static inline constexpr unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
static inline constexpr unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
static inline constexpr unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline double min(float a, double b) { return fmin(a, b); }
static inline double min(double a, float b) { return fmin(a, b); }
static inline double max(float a, double b) { return fmax(a, b); }
static inline double max(double a, float b) { return fmax(a, b); }

/* ---- Functions ---- */
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline double rcbrt(double x) { return 1.0 / cbrt(x); }
static inline void sincospif(float x, float *s, float *c) { *s = sinf(x * 3.14159265358979323846f); *c = cosf(x * 3.14159265358979323846f); }
static inline float sinpif(float x) { return (float)sin((double)x * 3.14159265358979323846); }
static inline float cospif(float x) { return (float)cos((double)x * 3.14159265358979323846); }
static inline double sinpi(double x) { return sin(x * 3.14159265358979323846); }
static inline double cospi(double x) { return cos(x * 3.14159265358979323846); }
static inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
static inline double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
static inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
static inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752440f); }
static inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

/* ---- Fast forms: on the CPU the exact ones are as good. Macros, because the C library declares
 * functions of some of these names for itself. ---- */
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __sincosf(x, s, c) sincosf(x, s, c)
#define __powf(x, y) powf(x, y)
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __saturatef(float x) { return x > 1.0f ? 1.0f : x > 0.0f ? x : 0.0f; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frsqrt_rn(float x) { return rsqrtf(x); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double x) { return sqrt(x); }
static inline double __drcp_rn(double x) { return 1.0 / x; }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

/* ---- Conversions ---- */
static inline int __float2int_rn(float x) { return (int)nearbyintf(x); }
static inline int __float2int_rz(float x) { return (int)x; }
static inline int __float2int_rd(float x) { return (int)floorf(x); }
static inline int __float2int_ru(float x) { return (int)ceilf(x); }
static inline unsigned __float2uint_rn(float x) { return (unsigned)nearbyintf(x); }
static inline unsigned __float2uint_rz(float x) { return (unsigned)x; }
static inline long long __float2ll_rn(float x) { return (long long)nearbyintf(x); }
static inline int __double2int_rn(double x) { return (int)nearbyint(x); }
static inline int __double2int_rz(double x) { return (int)x; }
static inline int __double2int_rd(double x) { return (int)floor(x); }
static inline long long __double2ll_rn(double x) { return (long long)nearbyint(x); }
static inline float __double2float_rn(double x) { return (float)x; }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline double __int2double_rn(int x) { return (double)x; }
static inline float __ll2float_rn(long long x) { return (float)x; }

template <class To, class From> static inline To kmm_host_same_bits(From v)
{
    static_assert(sizeof(To) == sizeof(From), "types of one size");
    To out;
    memcpy(&out, &v, sizeof(out));
    return out;
}
static inline int __float_as_int(float x) { return kmm_host_same_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return kmm_host_same_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return kmm_host_same_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return kmm_host_same_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return kmm_host_same_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return kmm_host_same_bits<double>(x); }
static inline int __double2hiint(double x) { return (int)((uint64_t)__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
static inline double __hiloint2double(int hi, int lo) { return __longlong_as_double((long long)((uint64_t)(unsigned)hi << 32 | (unsigned)lo)); }

/* ---- Integers and bits ---- */
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
static inline unsigned long long __brevll(unsigned long long x) { return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32)); }
static inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
static inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static inline unsigned __sad(int a, int b, unsigned c) { return c + (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b); }
static inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
static inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
static inline unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned out = 0;
    for (int k = 0; k < 4; k++) {
        unsigned s = selector >> 4 * k & 15, byte = (unsigned)(bytes >> 8 * (s & 7)) & 255;
        out |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * k;
    }
    return out;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32); }
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31)); }
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) { return n >= 32 ? lo : __funnelshift_l(lo, hi, n); }
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) { return n >= 32 ? hi : __funnelshift_r(lo, hi, n); }

/* ---- Loads and stores with a hint ---- */
#define KMM_LOAD(name) template <class T> static inline T name(const T *p) { return *p; }
#define KMM_STORE(name) template <class T> static inline void name(T *p, T v) { *p = v; }
KMM_LOAD(__ldg) KMM_LOAD(__ldcg) KMM_LOAD(__ldca) KMM_LOAD(__ldcs) KMM_LOAD(__ldlu) KMM_LOAD(__ldcv)
KMM_STORE(__stwb) KMM_STORE(__stcg) KMM_STORE(__stcs) KMM_STORE(__stwt)
#undef KMM_LOAD
#undef KMM_STORE

/* ---- Time and traps ---- */
static inline long long clock64() /* nanoseconds: a clock of 1 GHz */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline void __nanosleep(unsigned) {}
static inline void __trap() { __builtin_trap(); }

#endif
