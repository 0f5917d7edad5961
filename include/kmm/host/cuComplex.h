/* SPDX-License-Identifier: Apache-2.0 */
/* Complex numbers as CUDA's cuComplex.h names them: pairs of floats or doubles. */
#ifndef KMM_HOST_CUCOMPLEX_H
#define KMM_HOST_CUCOMPLEX_H
#include "cuda_runtime.h"

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device begin
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* Division and the absolute value scale by the larger part, so they overflow only if the result
 * does. */
#define KMM_HOST_COMPLEX(kmm_T, kmm_R, make_pair, make, real, imag, conj, add, sub, mul, div,      \
                         abs_of)                                                                   \
    static inline kmm_T make(kmm_R x, kmm_R y) { return make_pair(x, y); }                         \
    static inline kmm_R real(kmm_T a) { return a.x; }                                              \
    static inline kmm_R imag(kmm_T a) { return a.y; }                                              \
    static inline kmm_T conj(kmm_T a) { return make_pair(a.x, -a.y); }                             \
    static inline kmm_T add(kmm_T a, kmm_T b) { return make_pair(a.x + b.x, a.y + b.y); }          \
    static inline kmm_T sub(kmm_T a, kmm_T b) { return make_pair(a.x - b.x, a.y - b.y); }          \
    static inline kmm_T mul(kmm_T a, kmm_T b)                                                      \
    {                                                                                              \
        return make_pair(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                            \
    }                                                                                              \
    static inline kmm_T div(kmm_T a, kmm_T b)                                                      \
    {                                                                                              \
        kmm_R s = fabs(b.x) + fabs(b.y), ax = a.x / s, ay = a.y / s, bx = b.x / s, by = b.y / s;   \
        kmm_R n = bx * bx + by * by;                                                               \
        return make_pair((ax * bx + ay * by) / n, (ay * bx - ax * by) / n);                        \
    }                                                                                              \
    static inline kmm_R abs_of(kmm_T a) { return hypot(a.x, a.y); }
KMM_HOST_COMPLEX(cuFloatComplex, float, make_float2, make_cuFloatComplex, cuCrealf, cuCimagf,
                 cuConjf, cuCaddf, cuCsubf, cuCmulf, cuCdivf, cuCabsf)
KMM_HOST_COMPLEX(cuDoubleComplex, double, make_double2, make_cuDoubleComplex, cuCreal, cuCimag,
                 cuConj, cuCadd, cuCsub, cuCmul, cuCdiv, cuCabs)
#undef KMM_HOST_COMPLEX

static inline cuComplex make_cuComplex(float x, float y) { return make_float2(x, y); }
static inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a)
{
    return make_double2(a.x, a.y);
}
static inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a)
{
    return make_float2((float)a.x, (float)a.y);
}
static inline cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c)
{
    return cuCaddf(cuCmulf(a, b), c);
}
static inline cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c)
{
    return cuCadd(cuCmul(a, b), c);
}

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device end
#endif
#endif
