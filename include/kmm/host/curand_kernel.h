/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers in kernels: XORWOW and Philox4x32-10, with the sequences that CUDA's generators of
 * these names have.
 *
 * XORWOW is the generator of G. Marsaglia, "Xorshift RNGs" (2003): five words of shifts and
 * exclusive ors, linear over the field of two elements, and a counter. Leaping is multiplication by
 * a power of its 160 x 160 matrix of bits. A subsequence has 2^67 numbers.
 *
 * Philox is a counter that ten rounds of multiplications encrypt: J. Salmon et al., "Parallel
 * random numbers: as easy as 1, 2, 3" (2011). A subsequence has 2^66 numbers: the upper 64 bits of
 * the counter name it.
 */
#ifndef KMM_HOST_CURAND_KERNEL_H
#define KMM_HOST_CURAND_KERNEL_H

#include "cuda_runtime.h"

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device begin
#endif

/* Normal numbers are made in pairs. This says of which distribution the second number of the last
 * pair is, while it is kept for the next call. */
enum { KMM_CURAND_NONE, KMM_CURAND_NORMAL, KMM_CURAND_LOG_NORMAL };

struct kmm_curand_pair {
    int kind, kind_double;
    float extra;
    double extra_double;
};

struct curandStateXORWOW : kmm_curand_pair {
    unsigned d, v[5];
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState, curandState_t;

struct curandStatePhilox4_32_10 : kmm_curand_pair {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE; /* number of words of `output` that are used up */
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

struct kmm_curand_missing;
#define KMM_CURAND_MISSING                                                                         \
    __attribute__((                                                                                \
        unavailable("kmm: on the CPU target only the generators XORWOW and Philox are there")))
typedef kmm_curand_missing curandStateMRG32k3a KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateMRG32k3a_t KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateMtgp32 KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateMtgp32_t KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateSobol32 KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateSobol32_t KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateScrambledSobol32 KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateScrambledSobol32_t KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateSobol64 KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateSobol64_t KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateScrambledSobol64 KMM_CURAND_MISSING;
typedef kmm_curand_missing curandStateScrambledSobol64_t KMM_CURAND_MISSING;
#undef KMM_CURAND_MISSING

/* ---- XORWOW ---- */

static inline unsigned curand(curandStateXORWOW *s)
{
    const unsigned t = s->v[0] ^ (s->v[0] >> 2);
    for (int k = 0; k < 4; k++)
        s->v[k] = s->v[k + 1];
    s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
    s->d += 362437;
    return s->d + s->v[4];
}

/* The step of XORWOW's shifts as a matrix over bits: row k is the result for a state in which bit k
 * alone is set. The powers 2^0 to 2^63 skip offsets; 2^67 to 2^130 skip subsequences. */
struct kmm_curand_matrix {
    unsigned row[160][5];
};

static inline void kmm_curand_multiply(const kmm_curand_matrix *m, unsigned *v)
{
    unsigned out[5] = {0, 0, 0, 0, 0};
    for (int word = 0; word < 5; word++)
        for (unsigned bits = v[word]; bits; bits &= bits - 1) {
            const unsigned *row = m->row[32 * word + __builtin_ctz(bits)];
            for (int k = 0; k < 5; k++)
                out[k] ^= row[k];
        }
    for (int k = 0; k < 5; k++)
        v[k] = out[k];
}

struct kmm_curand_powers {
    enum { KMM_COUNT = 67 + 64 };
    kmm_curand_matrix at[KMM_COUNT];
    kmm_curand_powers()
    {
        for (int bit = 0; bit < 160; bit++) {
            curandStateXORWOW s = curandStateXORWOW();
            s.v[bit / 32] = 1u << bit % 32;
            curand(&s);
            for (int k = 0; k < 5; k++)
                at[0].row[bit][k] = s.v[k];
        }
        for (int p = 1; p < KMM_COUNT; p++) {
            at[p] = at[p - 1];
            for (int bit = 0; bit < 160; bit++)
                kmm_curand_multiply(&at[p - 1], at[p].row[bit]);
        }
    }
};
inline const kmm_curand_matrix *kmm_curand_power(int p)
{
#ifdef KMM_HOST_PARSE
    (void)p;
    return nullptr;
#else
    static const kmm_curand_powers *const powers = new kmm_curand_powers; /* never freed */
    return &powers->at[p];
#endif
}
static inline void kmm_curand_leap(curandStateXORWOW *s, unsigned long long n, int power)
{
    for (; n; n >>= 1, power++)
        if (n & 1)
            kmm_curand_multiply(kmm_curand_power(power), s->v);
}

static inline void skipahead(unsigned long long n, curandStateXORWOW *s)
{
    kmm_curand_leap(s, n, 0);
    s->d += 362437u * (unsigned)n;
}
static inline void skipahead_sequence(unsigned long long n, curandStateXORWOW *s)
{
    kmm_curand_leap(s, n, 67);
}

static inline void curand_init(unsigned long long seed, unsigned long long sequence,
                               unsigned long long offset, curandStateXORWOW *s)
{
    const unsigned low = ((unsigned)seed ^ 0xaad26b49u) * 1099087573u,
                   high = ((unsigned)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    *s = curandStateXORWOW();
    s->d = 6615241u + high + low;
    s->v[0] = 123456789u + low;
    s->v[1] = 362436069u ^ low;
    s->v[2] = 521288629u + high;
    s->v[3] = 88675123u ^ high;
    s->v[4] = 5783321u + low;
    skipahead_sequence(sequence, s);
    skipahead(offset, s);
}

/* ---- Philox4x32-10 ---- */

static inline uint4 kmm_curand_philox(uint4 c, uint2 k)
{
    for (int round = 0; round < 10; round++) {
        const unsigned long long a = 0xD2511F53ull * c.x, b = 0xCD9E8D57ull * c.z;
        c = make_uint4((unsigned)(b >> 32) ^ c.y ^ k.x, (unsigned)b,
                       (unsigned)(a >> 32) ^ c.w ^ k.y, (unsigned)a);
        k.x += 0x9E3779B9u;
        k.y += 0xBB67AE85u;
    }
    return c;
}

/* Adds to the 128-bit counter, given as halves. A carry of the lower half goes into the upper one.
 */
static inline void kmm_curand_count(curandStatePhilox4_32_10 *s, unsigned long long low,
                                    unsigned long long high)
{
    const unsigned long long was = s->ctr.x | (unsigned long long)s->ctr.y << 32, now = was + low;
    const unsigned long long upper =
        (s->ctr.z | (unsigned long long)s->ctr.w << 32) + high + (now < was);
    s->ctr =
        make_uint4((unsigned)now, (unsigned)(now >> 32), (unsigned)upper, (unsigned)(upper >> 32));
    s->output = kmm_curand_philox(s->ctr, s->key);
}

static inline void skipahead(unsigned long long n, curandStatePhilox4_32_10 *s)
{
    s->STATE += n & 3;
    kmm_curand_count(s, n / 4 + s->STATE / 4, 0);
    s->STATE %= 4;
}
static inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *s)
{
    kmm_curand_count(s, 0, n);
}

static inline void curand_init(unsigned long long seed, unsigned long long sequence,
                               unsigned long long offset, curandStatePhilox4_32_10 *s)
{
    *s = curandStatePhilox4_32_10();
    s->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    skipahead_sequence(sequence, s);
    skipahead(offset, s);
}

static inline unsigned curand(curandStatePhilox4_32_10 *s)
{
    const unsigned word[4] = {s->output.x, s->output.y, s->output.z, s->output.w},
                   result = word[s->STATE & 3];
    if (++s->STATE == 4) {
        s->STATE = 0;
        kmm_curand_count(s, 1, 0);
    }
    return result;
}
static inline uint4 curand4(curandStatePhilox4_32_10 *s)
{
    const unsigned a = curand(s), b = curand(s), c = curand(s), d = curand(s);
    return make_uint4(a, b, c, d);
}

/* ---- Distributions ---- */

/* Maps words to the interval (0, 1]. */
static inline float kmm_curand_unit(unsigned x) { return (float)x * 0x1p-32f + 0x1p-33f; }
static inline double kmm_curand_unit(unsigned x, unsigned y)
{
    return (double)(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}

static inline float2 kmm_curand_normals(unsigned x, unsigned y)
{
    const float radius = sqrtf(-2.0f * logf(kmm_curand_unit(x))), turn = 6.2831855f * 0x1p-32f,
                angle = (float)y * turn + turn / 2;
    return make_float2(radius * sinf(angle), radius * cosf(angle));
}
static inline double2 kmm_curand_normals(unsigned x0, unsigned x1, unsigned y0, unsigned y1)
{
    const double radius = sqrt(-2.0 * log(kmm_curand_unit(x0, x1))),
                 angle = 2 * 3.14159265358979323846 * kmm_curand_unit(y0, y1);
    return make_double2(radius * sin(angle), radius * cos(angle));
}

static inline float curand_uniform(curandStateXORWOW *s) { return kmm_curand_unit(curand(s)); }
static inline float curand_uniform(curandStatePhilox4_32_10 *s)
{
    return kmm_curand_unit(curand(s));
}
static inline double curand_uniform_double(curandStateXORWOW *s)
{
    const unsigned x = curand(s), y = curand(s);
    return kmm_curand_unit(x, y);
}
/* Made from one word of 32 bits, as CUDA does for Philox. */
static inline double curand_uniform_double(curandStatePhilox4_32_10 *s)
{
    return curand(s) * 0x1p-32 + 0x1p-32;
}

template <class kmm_S> static inline float2 curand_normal2(kmm_S *s)
{
    const unsigned x = curand(s), y = curand(s);
    return kmm_curand_normals(x, y);
}
template <class kmm_S> static inline double2 curand_normal2_double(kmm_S *s)
{
    const unsigned x0 = curand(s), x1 = curand(s), y0 = curand(s), y1 = curand(s);
    return kmm_curand_normals(x0, x1, y0, y1);
}
template <class kmm_S>
static inline float2 curand_log_normal2(kmm_S *s, float mean, float deviation)
{
    const float2 n = curand_normal2(s);
    return make_float2(expf(mean + deviation * n.x), expf(mean + deviation * n.y));
}
template <class kmm_S>
static inline double2 curand_log_normal2_double(kmm_S *s, double mean, double deviation)
{
    const double2 n = curand_normal2_double(s);
    return make_double2(exp(mean + deviation * n.x), exp(mean + deviation * n.y));
}

/* Returns one number of a pair and keeps the other for the next call. A kept number of another
 * distribution is dropped. */
template <class kmm_S, class kmm_F>
static inline float kmm_curand_single(kmm_S *s, int kind, kmm_F pair)
{
    if (s->kind == kind) {
        s->kind = KMM_CURAND_NONE;
        return s->extra;
    }
    const float2 both = pair();
    s->extra = both.y;
    s->kind = kind;
    return both.x;
}
template <class kmm_S, class kmm_F>
static inline double kmm_curand_single_double(kmm_S *s, int kind, kmm_F pair)
{
    if (s->kind_double == kind) {
        s->kind_double = KMM_CURAND_NONE;
        return s->extra_double;
    }
    const double2 both = pair();
    s->extra_double = both.y;
    s->kind_double = kind;
    return both.x;
}
template <class kmm_S> static inline float curand_normal(kmm_S *s)
{
    return kmm_curand_single(s, KMM_CURAND_NORMAL, [s] { return curand_normal2(s); });
}
template <class kmm_S> static inline double curand_normal_double(kmm_S *s)
{
    return kmm_curand_single_double(s, KMM_CURAND_NORMAL, [s] { return curand_normal2_double(s); });
}
template <class kmm_S> static inline float curand_log_normal(kmm_S *s, float mean, float deviation)
{
    return kmm_curand_single(s, KMM_CURAND_LOG_NORMAL,
                             [=] { return curand_log_normal2(s, mean, deviation); });
}
template <class kmm_S>
static inline double curand_log_normal_double(kmm_S *s, double mean, double deviation)
{
    return kmm_curand_single_double(s, KMM_CURAND_LOG_NORMAL,
                                    [=] { return curand_log_normal2_double(s, mean, deviation); });
}

/* ---- Four at once, of Philox ---- */

static inline float4 curand_uniform4(curandStatePhilox4_32_10 *s)
{
    const uint4 x = curand4(s);
    return make_float4(kmm_curand_unit(x.x), kmm_curand_unit(x.y), kmm_curand_unit(x.z),
                       kmm_curand_unit(x.w));
}
static inline double2 curand_uniform2_double(curandStatePhilox4_32_10 *s)
{
    const uint4 x = curand4(s);
    return make_double2(kmm_curand_unit(x.x, x.y), kmm_curand_unit(x.z, x.w));
}
static inline float4 curand_normal4(curandStatePhilox4_32_10 *s)
{
    const float2 a = curand_normal2(s), b = curand_normal2(s);
    return make_float4(a.x, a.y, b.x, b.y);
}
static inline float4 curand_log_normal4(curandStatePhilox4_32_10 *s, float mean, float deviation)
{
    const float2 a = curand_log_normal2(s, mean, deviation),
                 b = curand_log_normal2(s, mean, deviation);
    return make_float4(a.x, a.y, b.x, b.y);
}

static inline double4 curand_uniform4_double(curandStatePhilox4_32_10 *s)
{
    const double2 a = curand_uniform2_double(s), b = curand_uniform2_double(s);
    return make_double4(a.x, a.y, b.x, b.y);
}
static inline double4 curand_normal4_double(curandStatePhilox4_32_10 *s)
{
    const double2 a = curand_normal2_double(s), b = curand_normal2_double(s);
    return make_double4(a.x, a.y, b.x, b.y);
}
static inline double4 curand_log_normal4_double(curandStatePhilox4_32_10 *s, double mean,
                                                double deviation)
{
    const double2 a = curand_log_normal2_double(s, mean, deviation),
                  b = curand_log_normal2_double(s, mean, deviation);
    return make_double4(a.x, a.y, b.x, b.y);
}

/* ---- Poisson ---- */

/* Knuth's method: counts uniform numbers until their product is at most e^-lambda. */
template <class kmm_S> static inline unsigned kmm_curand_poisson_small(kmm_S *s, float lambda)
{
    const float limit = expf(-lambda);
    float product = 1;
    unsigned k = 0;
    do {
        k++;
        product *= curand_uniform(s);
    } while (product > limit);
    return k - 1;
}

/* The method PTRS of W. Hormann, "The transformed rejection method for generating Poisson random
 * variables" (1993). */
template <class kmm_S> static inline unsigned kmm_curand_poisson_middle(kmm_S *s, double lambda)
{
    const double b = 0.931 + 2.53 * sqrt(lambda), a = -0.059 + 0.02483 * b,
                 inverse = 1.1239 + 1.1328 / (b - 3.4), accept = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = curand_uniform(s) - 0.5, v = curand_uniform(s), us = 0.5 - fabs(u),
                     k = floor((2 * a / us + b) * u + lambda + 0.43);
        if (us >= 0.07 && v <= accept)
            return (unsigned)k;
        if (k < 0 || (us < 0.013 && v > us))
            continue;
        if (log(v) + log(inverse) - log(a / (us * us) + b) <=
            -lambda + k * log(lambda) - lgamma(k + 1))
            return (unsigned)k;
    }
}

/* For lambda from 64 to 4000 the numbers have CUDA's distribution, but are not CUDA's numbers. */
template <class kmm_S> static inline unsigned curand_poisson(kmm_S *s, double lambda)
{
    if (lambda < 64)
        return kmm_curand_poisson_small(s, (float)lambda);
    if (lambda <= 4000)
        return kmm_curand_poisson_middle(s, lambda);
    return (unsigned)(sqrt(lambda) * curand_normal_double(s) + lambda + 0.5);
}
/* The numbers have CUDA's distribution, but are not CUDA's numbers. */
static inline uint4 curand_poisson4(curandStatePhilox4_32_10 *s, double lambda)
{
    const unsigned x = curand_poisson(s, lambda), y = curand_poisson(s, lambda),
                   z = curand_poisson(s, lambda), w = curand_poisson(s, lambda);
    return make_uint4(x, y, z, w);
}

/* Missing: distributions whose tables CUDA's host library makes, and generators that need tables.
 */
#define KMM_CURAND_MISSING(name)                                                                   \
    template <class... kmm_A>                                                                      \
    int name(kmm_A...)                                                                             \
        __attribute__((__unavailable__("kmm: " #name " is missing on the CPU target")));
KMM_CURAND_MISSING(curand_discrete)
KMM_CURAND_MISSING(curand_discrete4)
KMM_CURAND_MISSING(curand_mtgp32_specific)
KMM_CURAND_MISSING(curand_mtgp32_single)
KMM_CURAND_MISSING(curand_mtgp32_single_specific)
#undef KMM_CURAND_MISSING

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device end
#endif
#endif
