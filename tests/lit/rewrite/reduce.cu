// REQUIRES: nvcc
// RUN: cd %S && %kmmcc --target=cuda --emit-source=%t.cu reduce.cu && grep -v "^ *// CHECK" %t.cu | FileCheck %s
// RUN: %nvcc -std=c++17 -I %S/../../../include -Xcompiler -Wall -Werror all-warnings -c %t.cu -o %t.o
// The toolkit's types as elements of reductions.
#include <complex>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct best { double value; unsigned index; };
static_assert(sizeof(std::pair<int, float>) == 8, "a template is known once it is used");

__global__ void narrow(int n, __half *h, half2 *, __nv_bfloat16 *b) {}
__global__ void complex(int n, cuFloatComplex *f, cuDoubleComplex *d, float2 *v, std::complex<double> *s) {}
__global__ void pairs(int n, best *p, std::pair<int, float> *q) {}

void launches(int n, __half *h, half2 *h2, __nv_bfloat16 *b, cuFloatComplex *f, cuDoubleComplex *d, float2 *v, std::complex<double> *s,
              best *p, std::pair<int, float> *q)
{
// CHECK: kmm_launch_reduce(kmm__launch, KMM_OP_ADD, KMM_HALF, "h[0]", h);
// CHECK: kmm_launch_reduce(kmm__launch, KMM_OP_MAX, KMM_BFLOAT16, "b[0]", b);
#pragma kmm parallel(i = 0:n) reduce(+: h[0]) reduce(max: b[0]) update(h2[i])
    narrow<<<n, 1>>>(n, h, h2, b);
// CHECK: kmm_launch_reduce(kmm__launch, KMM_OP_MUL, KMM_COMPLEX_FLOAT, "f[0]", f);
// CHECK: kmm_launch_reduce(kmm__launch, KMM_OP_MUL, KMM_COMPLEX_DOUBLE, "d[0]", d);
// CHECK: kmm_launch_reduce(kmm__launch, KMM_OP_ADD, KMM_COMPLEX_FLOAT, "v[0]", v);
// CHECK: kmm_launch_reduce(kmm__launch, KMM_OP_ADD, KMM_COMPLEX_DOUBLE, "s[0]", s);
#pragma kmm parallel(i = 0:n) reduce(*: f[0], d[0]) reduce(+: v[0], s[0])
    complex<<<n, 1>>>(n, f, d, v, s);
// CHECK: kmm_launch_reduce(kmm__launch, KMM_OP_ARGMAX, KMM_DOUBLE, "p[0]", p);
// CHECK-NEXT: kmm_launch_pair(kmm__launch, 16, 0, KMM_UINT32, 8);
// CHECK: kmm_launch_reduce(kmm__launch, KMM_OP_ARGMIN, KMM_FLOAT, "q[0]", q);
// CHECK-NEXT: kmm_launch_pair(kmm__launch, 8, 4, KMM_INT32, 0);
#pragma kmm parallel(i = 0:n) reduce(argmax: p[0]) reduce(argmin: q[0])
    pairs<<<n, 1>>>(n, p, q);
}
