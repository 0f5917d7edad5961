/* SPDX-License-Identifier: Apache-2.0 */
/* Intrinsics and mathematical functions that are rarer than those of kmm_math.h. */
#ifndef KMM_HOST_INTRINSICS_H
#define KMM_HOST_INTRINSICS_H

/* ---- Integers ---- */
static inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }
static inline unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
static inline unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
/* Shifts of 32 and more are of 32. */
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? lo : __funnelshift_l(lo, hi, s); }
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? hi : __funnelshift_r(lo, hi, s); }
static inline int mulhi(int a, int b) { return __mulhi(a, b); }
static inline unsigned umulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
static inline int mul24(int a, int b) { return __mul24(a, b); }
static inline unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
static inline unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
static inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
static inline long long llmin(long long a, long long b) { return b < a ? b : a; }
static inline long long llmax(long long a, long long b) { return a < b ? b : a; }
static inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
static inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

/* Four bytes, or two words of 16 bits, side by side: f(a, b) of each pair, read as T. */
template <class T, class F> static inline unsigned kmm_host_lanewise(unsigned a, unsigned b, F f)
{
    const int bits = 8 * (int)sizeof(T);
    unsigned out = 0;
    for (int at = 0; at < 32; at += bits)
        out |= ((unsigned)f((int)(T)(a >> at), (int)(T)(b >> at)) & (0xffffffffu >> (32 - bits))) << at;
    return out;
}
#define KMM_HOST_LANEWISE(name, expression)                                                        \
    static inline unsigned __v##name##2(unsigned a, unsigned b) { return kmm_host_lanewise<KMM_HOST_LANE(short)>(a, b, [](int x, int y) { return expression; }); } \
    static inline unsigned __v##name##4(unsigned a, unsigned b) { return kmm_host_lanewise<KMM_HOST_LANE(char)>(a, b, [](int x, int y) { return expression; }); }
#define KMM_HOST_LANE(type) unsigned type
KMM_HOST_LANEWISE(add, x + y) KMM_HOST_LANEWISE(sub, x - y) KMM_HOST_LANEWISE(absdiffu, x < y ? y - x : x - y)
KMM_HOST_LANEWISE(maxu, x < y ? y : x) KMM_HOST_LANEWISE(minu, x < y ? x : y) KMM_HOST_LANEWISE(avgu, (x + y + 1) / 2)
KMM_HOST_LANEWISE(haddu, (x + y) / 2) KMM_HOST_LANEWISE(cmpeq, x == y ? -1 : 0) KMM_HOST_LANEWISE(cmpne, x != y ? -1 : 0)
KMM_HOST_LANEWISE(cmpgtu, x > y ? -1 : 0) KMM_HOST_LANEWISE(cmpgeu, x >= y ? -1 : 0) KMM_HOST_LANEWISE(cmpltu, x < y ? -1 : 0)
KMM_HOST_LANEWISE(cmpleu, x <= y ? -1 : 0) KMM_HOST_LANEWISE(seteq, x == y) KMM_HOST_LANEWISE(setne, x != y) KMM_HOST_LANEWISE(setgtu, x > y)
#undef KMM_HOST_LANE
#define KMM_HOST_LANE(type) signed type
KMM_HOST_LANEWISE(maxs, x < y ? y : x) KMM_HOST_LANEWISE(mins, x < y ? x : y) KMM_HOST_LANEWISE(cmpgts, x > y ? -1 : 0)
KMM_HOST_LANEWISE(cmpges, x >= y ? -1 : 0) KMM_HOST_LANEWISE(cmplts, x < y ? -1 : 0) KMM_HOST_LANEWISE(cmples, x <= y ? -1 : 0)
#undef KMM_HOST_LANE
#undef KMM_HOST_LANEWISE
static inline unsigned __vsadu4(unsigned a, unsigned b)
{
    const unsigned d = __vabsdiffu4(a, b);
    return (d & 255) + (d >> 8 & 255) + (d >> 16 & 255) + (d >> 24);
}
/* c + the sum of the products of four bytes. */
static inline int __dp4a(int a, int b, int c)
{
    for (int at = 0; at < 32; at += 8)
        c += (signed char)(a >> at) * (signed char)(b >> at);
    return c;
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int at = 0; at < 32; at += 8)
        c += (a >> at & 255) * (b >> at & 255);
    return c;
}

/* ---- Conversions ---- */
static inline float __ll2float_rn(long long x) { return (float)x; }
static inline float __ull2float_rn(unsigned long long x) { return (float)x; }
static inline double __ll2double_rn(long long x) { return (double)x; }
static inline double __ull2double_rn(unsigned long long x) { return (double)x; }

/* ---- Mathematics ---- */
static inline float norm4df(float a, float b, float c, float d) { return sqrtf(a * a + b * b + c * c + d * d); }
static inline double norm4d(double a, double b, double c, double d) { return sqrt(a * a + b * b + c * c + d * d); }
static inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
static inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
static inline float rnorm4df(float a, float b, float c, float d) { return 1.0f / norm4df(a, b, c, d); }
static inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
static inline void sincospi(double x, double *s, double *c) { *s = sinpi(x); *c = cospi(x); }
static inline void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }
/* exp(x * x) * erfc(x); far out the first terms of its continued fraction. */
static inline double erfcx(double x)
{
    if (x < 20)
        return exp(x * x) * erfc(x);
    const double inverse = 1 / (2 * x * x);
    return (1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse))) / (x * 1.7724538509055160273);
}
static inline float erfcxf(float x) { return (float)erfcx((double)x); }

/* Where erfc is y: Newton's method with a second-order term, from what the tail of the normal distribution gives. */
static inline double erfcinv(double y)
{
    if (!(y > 0 && y < 2))
        return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : NAN;
    const double tail = y < 1 ? y : 2 - y, w = sqrt(-2 * log(tail / 2));
    double x = 0.70710678118654752440 * (w - (2.515517 + w * (0.802853 + w * 0.010328)) / (1 + w * (1.432788 + w * (0.189269 + w * 0.001308))));
    for (int k = 0; k < 4; k++) {
        const double wrong = (erfc(x) - tail) * 0.88622692545275801365 * exp(x * x);
        x += wrong / (1 + x * wrong);
    }
    return y < 1 ? x : -x;
}
static inline double erfinv(double y)
{
    if (fabs(y) > 0.5)
        return erfcinv(1 - y);
    double x = 0.88622692545275801365 * y;
    for (int k = 0; k < 6; k++) {
        const double wrong = (erf(x) - y) * 0.88622692545275801365 * exp(x * x);
        x -= wrong / (1 + x * wrong);
    }
    return x;
}
static inline float erfinvf(float y) { return (float)erfinv((double)y); }
static inline float erfcinvf(float y) { return (float)erfcinv((double)y); }
static inline double normcdfinv(double p) { return -1.41421356237309504880 * erfcinv(2 * p); }
static inline float normcdfinvf(float p) { return (float)normcdfinv((double)p); }

/* ---- Memory and time ---- */
template <class T> static inline T __ldlu(const T *p) { return *p; }
template <class T> static inline T __ldcv(const T *p) { return *const_cast<const volatile T *>(p); }
template <class T> static inline void __stwt(T *p, T v) { *p = v; }
static inline void __prof_trigger(int) {}

#endif
