/* SPDX-License-Identifier: Apache-2.0 */
/* Mathematical functions and intrinsics that CUDA has and C lacks. CUDA's fast variants are the
 * exact functions here. */
#ifndef KMM_HOST_MATH_H
#define KMM_HOST_MATH_H

static inline int min(int a, int b) { return b < a ? b : a; }
static inline int max(int a, int b) { return a < b ? b : a; }
static inline unsigned min(unsigned a, unsigned b) { return b < a ? b : a; }
static inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
static inline long min(long a, long b) { return b < a ? b : a; }
static inline long max(long a, long b) { return a < b ? b : a; }
static inline unsigned long min(unsigned long a, unsigned long b) { return b < a ? b : a; }
static inline unsigned long max(unsigned long a, unsigned long b) { return a < b ? b : a; }
static inline long long min(long long a, long long b) { return b < a ? b : a; }
static inline long long max(long long a, long long b) { return a < b ? b : a; }
static inline unsigned long long min(unsigned long long a, unsigned long long b)
{
    return b < a ? b : a;
}
static inline unsigned long long max(unsigned long long a, unsigned long long b)
{
    return a < b ? b : a;
}
static inline float min(float a, float b) { return b < a ? b : a; }
static inline float max(float a, float b) { return a < b ? b : a; }
static inline double min(double a, double b) { return b < a ? b : a; }
static inline double max(double a, double b) { return a < b ? b : a; }
static inline unsigned min(int a, unsigned b) { return min((unsigned)a, (unsigned)b); }
static inline unsigned max(int a, unsigned b) { return max((unsigned)a, (unsigned)b); }
static inline unsigned min(unsigned a, int b) { return min((unsigned)a, (unsigned)b); }
static inline unsigned max(unsigned a, int b) { return max((unsigned)a, (unsigned)b); }
static inline double min(float a, double b) { return min((double)a, (double)b); }
static inline double max(float a, double b) { return max((double)a, (double)b); }
static inline double min(double a, float b) { return min((double)a, (double)b); }
static inline double max(double a, float b) { return max((double)a, (double)b); }
static inline long long min(int a, long long b) { return min((long long)a, (long long)b); }
static inline long long max(int a, long long b) { return max((long long)a, (long long)b); }
static inline long long min(long long a, int b) { return min((long long)a, (long long)b); }
static inline long long max(long long a, int b) { return max((long long)a, (long long)b); }
static inline long min(int a, long b) { return min((long)a, (long)b); }
static inline long max(int a, long b) { return max((long)a, (long)b); }
static inline long min(long a, int b) { return min((long)a, (long)b); }
static inline long max(long a, int b) { return max((long)a, (long)b); }
static inline float min(float a, int b) { return min((float)a, (float)b); }
static inline float max(float a, int b) { return max((float)a, (float)b); }
static inline float min(int a, float b) { return min((float)a, (float)b); }
static inline float max(int a, float b) { return max((float)a, (float)b); }

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
static inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline double rcbrt(double x)
{
    const double y = 1.0 / cbrt(x);
    return isinf(y) || y == 0 ? y
                              /* one step of Newton's method: cbrt is off by a few units in the
                               * last place */
                              : y + y * (1 - x * y * y * y) / 3;
}
/* The nearest multiple of 1/2 is subtracted from x - 2n, which is exact. The rest is at most 1/4 in
 * magnitude. */
static inline double sinpi(double x)
{
    const double r = x - 2 * rint(x / 2), halves = rint(2 * r), angle = M_PI * (r - halves / 2),
                 s = sin(angle), c = cos(angle);
    const double y = halves == 0 ? s : halves == 1 ? c : halves == -1 ? -c : -s;
    return y == 0 ? copysign(0.0, x) : y;
}
static inline double cospi(double x)
{
    const double r = x - 2 * rint(x / 2), halves = rint(2 * r), angle = M_PI * (r - halves / 2),
                 s = sin(angle), c = cos(angle);
    return (halves == 0 ? c : halves == 1 ? -s : halves == -1 ? s : -c) + 0.0;
}
static inline float sinpif(float x) { return (float)sinpi((double)x); }
static inline float cospif(float x) { return (float)cospi((double)x); }
static inline float norm3df(float a, float b, float c)
{
    return isinf(a) || isinf(b) || isinf(c)
               ? HUGE_VALF
               : (float)sqrt((double)a * a + (double)b * b + (double)c * c);
}
static inline double norm3d(double a, double b, double c) { return hypot(hypot(a, b), c); }
static inline float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
static inline double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
static inline float fdividef(float a, float b) { return a / b; }
static inline float fdivide(float a, float b) { return a / b; }

#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __expf(x) expf(x)
#define __exp10f(x) exp10f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sincosf(x, s, c) sincosf(x, s, c)
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x)
{
    unsigned r = 0;
    for (int k = 0; k < 32; k++)
        r |= (x >> k & 1) << (31 - k);
    return r;
}
static inline unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
/* Byte k of the result is byte (s >> 4k) & 7 of the eight bytes b:a. If bit 3 of that nibble is
 * set, it is the byte's sign in all bits. */
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned r = 0;
    for (int k = 0; k < 4; k++) {
        unsigned which = s >> (4 * k) & 15, byte = (unsigned)(bytes >> (8 * (which & 7))) & 255;
        r |= (which & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * k);
    }
    return r;
}
static inline int __mul24(int a, int b)
{
    return (int)((unsigned)((int)((unsigned)a << 8) >> 8) *
                 (unsigned)((int)((unsigned)b << 8) >> 8));
}
static inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((kmm_host_bits_16)a * b >> 64);
}
static inline long long __mul64hi(long long a, long long b)
{
    return (long long)((kmm_host_int_16)a * b >> 64);
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s)
{
    return (unsigned)((((unsigned long long)hi << 32 | lo) << (s & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s)
{
    return (unsigned)(((unsigned long long)hi << 32 | lo) >> (s & 31));
}
static inline unsigned __sad(int a, int b, unsigned c)
{
    return c + (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b);
}
static inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
static inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }

static inline int __float_as_int(float x)
{
    int r;
    memcpy(&r, &x, sizeof(r));
    return r;
}
static inline unsigned __float_as_uint(float x)
{
    unsigned r;
    memcpy(&r, &x, sizeof(r));
    return r;
}
static inline float __int_as_float(int x)
{
    float r;
    memcpy(&r, &x, sizeof(r));
    return r;
}
static inline float __uint_as_float(unsigned x)
{
    float r;
    memcpy(&r, &x, sizeof(r));
    return r;
}
static inline long long __double_as_longlong(double x)
{
    long long r;
    memcpy(&r, &x, sizeof(r));
    return r;
}
static inline double __longlong_as_double(long long x)
{
    double r;
    memcpy(&r, &x, sizeof(r));
    return r;
}
static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
static inline double __hiloint2double(int h, int l)
{
    return __longlong_as_double((long long)((unsigned long long)(unsigned)h << 32 | (unsigned)l));
}

#endif
