/* SPDX-License-Identifier: Apache-2.0 */
/* Intrinsics and mathematical functions that are used more rarely than those of kmm_math.h. */
#ifndef KMM_HOST_INTRINSICS_H
#define KMM_HOST_INTRINSICS_H

/* ---- Integers ---- */
static inline unsigned __usad(unsigned a, unsigned b, unsigned c)
{
    return c + (a < b ? b - a : a - b);
}
static inline unsigned __uhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b) >> 1);
}
static inline unsigned __urhadd(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}
/* A shift by 32 or more counts as 32. */
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s)
{
    return s >= 32 ? lo : __funnelshift_l(lo, hi, s);
}
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s)
{
    return s >= 32 ? hi : __funnelshift_r(lo, hi, s);
}
static inline int mulhi(int a, int b) { return __mulhi(a, b); }
static inline unsigned umulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
static inline int mul24(int a, int b) { return __mul24(a, b); }
static inline unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
static inline unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
static inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
static inline long long llmin(long long a, long long b) { return b < a ? b : a; }
static inline long long llmax(long long a, long long b) { return a < b ? b : a; }
static inline unsigned long long ullmin(unsigned long long a, unsigned long long b)
{
    return b < a ? b : a;
}
static inline unsigned long long ullmax(unsigned long long a, unsigned long long b)
{
    return a < b ? b : a;
}

/* Returns the position of the offset-th set bit of `mask`, counted upwards from bit `base`, or
 * downwards if offset is negative. Offset 0 asks for bit `base` itself. Returns ~0 if there is no
 * such bit. */
static inline unsigned __fns(unsigned mask, unsigned base, int offset)
{
    if (offset == 0)
        return mask >> (base & 31) & 1 ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && (offset -= step) == 0)
            return (unsigned)at;
    return ~0u;
}

/* ---- Mathematics ---- */
static inline float norm4df(float a, float b, float c, float d)
{
    return isinf(a) || isinf(b) || isinf(c) || isinf(d)
               ? HUGE_VALF
               : (float)sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d);
}
static inline double norm4d(double a, double b, double c, double d)
{
    return hypot(hypot(a, b), hypot(c, d));
}
static inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
static inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
static inline float rnorm4df(float a, float b, float c, float d)
{
    return 1.0f / norm4df(a, b, c, d);
}
static inline double rnorm4d(double a, double b, double c, double d)
{
    return 1.0 / norm4d(a, b, c, d);
}
/* The numbers are scaled so that the largest one is about 1. Then no square that matters
 * underflows. */
static inline double norm(int count, const double *p)
{
    double most = 0, sum = 0;
    int exponent;
    for (int k = 0; k < count; k++)
        most = fmax(most, fabs(p[k]));
    if (most == 0 && count > 0)
        return p[0] + most; /* which may be no number */
    if (most == 0 || isinf(most))
        return most;
    frexp(most, &exponent);
    for (int k = 0; k < count; k++) {
        const double x = ldexp(p[k], -exponent);
        sum += x * x;
    }
    return ldexp(sqrt(sum), exponent);
}
static inline double rnorm(int count, const double *p) { return 1.0 / norm(count, p); }
static inline float normf(int count, const float *p)
{
    double sum = 0;
    bool is_infinite = false;
    for (int k = 0; k < count; k++) {
        sum += (double)p[k] * p[k];
        is_infinite |= isinf(p[k]);
    }
    return is_infinite ? HUGE_VALF : (float)sqrt(sum);
}
static inline float rnormf(int count, const float *p) { return 1.0f / normf(count, p); }
static inline void sincospi(double x, double *s, double *c)
{
    *s = sinpi(x);
    *c = cospi(x);
}
static inline void sincospif(float x, float *s, float *c)
{
    *s = sinpif(x);
    *c = cospif(x);
}

/* exp(x * x) * erfc(x). The rounding error of x * x is added back. For large x it is the asymptotic
 * series, up to its smallest term. */
static inline double erfcx(double x)
{
    if (x < 20) {
        const double square = x * x, lost = fma(x, x, -square), y = exp(square) * erfc(x);
        return isinf(square) || isinf(y) ? HUGE_VAL : y + y * lost;
    }
    const double h = 0.5 / x / x;
    double sum = 1;
    for (int k = 12; k > 0; k--)
        sum = 1 - (2 * k - 1) * h * sum;
    return sum / x * 0.56418958354775628695;
}
static inline float erfcxf(float x) { return (float)erfcx((double)x); }

/* erfc(-x / sqrt(2)) / 2. The rounding error of the quotient is added back where erfc is steep. */
static inline double normcdf(double x)
{
    const double a = -0.70710678118654752440 * x,
                 lost = fma(-0.70710678118654752440, x, -a) + 4.8336466567264567e-17 * x;
    const double y = erfc(a);
    return 0.5 * (fabs(a) < 30 ? y - 1.1283791670955126 * exp(-a * a) * lost : y);
}
static inline float normcdff(float x) { return (float)normcdf((double)x); }

/* The inverses of erf and erfc: Newton's method with a second-order term. In the tails it starts
 * from the normal distribution's inverse. */
static inline double kmm_host_erfinv(double y)
{
    double x = 0.88622692545275801365 * y;
    for (int k = 0; k < 6; k++) {
        const double wrong = (erf(x) - y) * 0.88622692545275801365 * exp(x * x);
        x -= wrong / (1 + x * wrong);
    }
    return x;
}
static inline double erfcinv(double y)
{
    if (!(y > 0 && y < 2))
        return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : NAN;
    if (y > 0.5 && y < 1.5)
        return kmm_host_erfinv(1 - y);
    const double tail = y < 1 ? y : 2 - y, far = log(tail),
                 w = sqrt(-2 * (far - 0.69314718055994530942));
    double x =
        0.70710678118654752440 * (w - (2.515517 + w * (0.802853 + w * 0.010328)) /
                                          (1 + w * (1.432788 + w * (0.189269 + w * 0.001308))));
    for (int k = 0; k < 4; k++) {
        const double over = x < 5 ? (erfc(x) - tail) * exp(x * x) : erfcx(x) - exp(x * x + far),
                     wrong = over * 0.88622692545275801365;
        x += wrong / (1 + x * wrong);
    }
    return y < 1 ? x : -x;
}
static inline double erfinv(double y)
{
    return fabs(y) <= 0.5 ? kmm_host_erfinv(y) : y < 0 ? -erfcinv(1 + y) : erfcinv(1 - y);
}
static inline float erfinvf(float y) { return (float)erfinv((double)y); }
static inline float erfcinvf(float y) { return (float)erfcinv((double)y); }
static inline double normcdfinv(double p) { return -1.41421356237309504880 * erfcinv(2 * p); }
static inline float normcdfinvf(float p) { return (float)normcdfinv((double)p); }

/* The modified Bessel functions of order 0 and 1: the power series, whose terms have one sign, and
 * for large x the asymptotic series. */
static inline double kmm_host_bessel(double x, int order)
{
    const long double z = fabs(x);
    long double sum = 1, term = 1; /* up to a hundred factors are rounded */
    if (z < 30) {
        for (int k = 1; k < 100 && term > sum * 1e-20L; k++) {
            term *= z / (2 * k) * (z / (2 * (k + order)));
            sum += term;
        }
        return (double)(order ? (long double)x / 2 * sum : sum);
    }
    for (int k = 1; k < 30 && fabsl(term) > 1e-17L; k++) {
        term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * z * k);
        sum += term;
    }
    const long double half = expl(z / 2);
    const double y = z < 1500 ? (double)(half / sqrtl(6.2831853071795864769L * z) * sum * half)
                              : (double)z + HUGE_VAL;
    return order && x < 0 ? -y : y;
}
static inline double cyl_bessel_i0(double x) { return kmm_host_bessel(x, 0); }
static inline double cyl_bessel_i1(double x) { return kmm_host_bessel(x, 1); }
static inline float cyl_bessel_i0f(float x) { return (float)kmm_host_bessel(x, 0); }
static inline float cyl_bessel_i1f(float x) { return (float)kmm_host_bessel(x, 1); }

/* ---- Memory and time ---- */
template <class kmm_T> static inline kmm_T __ldlu(const kmm_T *p) { return *p; }
template <class kmm_T> static inline kmm_T __ldcv(const kmm_T *p)
{
    return *const_cast<const volatile kmm_T *>(p);
}
template <class kmm_T> static inline void __stwt(kmm_T *p, kmm_T v) { *p = v; }
static inline void __prof_trigger(int) {}

#endif
