// REQUIRES: nvcc
// RUN: cd %S && %kmmcc --target=cuda --emit-source=%t.cu reduce.cu && grep -v "^ *// CHECK\|^ *// MOVES" %t.cu > %t.text
// RUN: FileCheck %s < %t.text && FileCheck --check-prefix=MOVES %s < %t.text
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
// CHECK-NEXT: KMM_PAIR_BYTES(sizeof({{.*}}), 16, "line {{.*}});
// CHECK-NEXT: kmm_launch_pair(kmm__launch, 16, 0, KMM_UINT32, 8);
// CHECK: kmm_launch_reduce(kmm__launch, KMM_OP_ARGMIN, KMM_FLOAT, "q[0]", q);
// CHECK-NEXT: KMM_PAIR_BYTES(sizeof({{.*}}), 8, "line {{.*}});
// CHECK-NEXT: kmm_launch_pair(kmm__launch, 8, 4, KMM_INT32, 0);
#pragma kmm parallel(i = 0:n) reduce(argmax: p[0]) reduce(argmin: q[0])
    pairs<<<n, 1>>>(n, p, q);
}

// Clones that move pointers to the partial of a block's chunk: those through which the kernel may store, and which it can set.
// MOVES: void kmm_dot(const kmm_partials<8, 1> kmm__partials, int n, const float *x, float *__restrict__ sum)
// MOVES-NEXT: { const kmm_blocks_t kmm__blocks = kmm__partials.blocks; (void)kmm__blocks; const uint64_t kmm__chunk = kmm_chunk_of(kmm__partials); sum = kmm_moved(sum, kmm__chunk * kmm__partials.stride[0]); const uint3 blockIdx
__global__ void dot(int n, const float *x, float *__restrict__ sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i]);
}
// MOVES: void kmm_dot(const kmm_partials<12, 2> kmm__partials, int n, volatile double *sum, void *to)
__global__ void dot(int n, volatile double *sum, void *to) { ((double *)sum)[0] += n + (to != nullptr); }
// MOVES: void kmm_many(const kmm_partials<32, 1> kmm__partials, T, const T *x, T *const fixed, int n, T *sum)
template <class T> __global__ void many(T, const T *x, T *const fixed, int n, T *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i] + fixed[i]);
}
// A template with a specialization, integers, and a kernel whose clone has no mangled name are not moved.
// MOVES: void kmm_special(const kmm_blocks_t kmm__blocks, T *sum)
template <class T> __global__ void special(T *sum) { *sum += 1; }
template <> __global__ void special<double>(double *sum) { *sum += 2; }
// MOVES: void kmm_count(const kmm_blocks_t kmm__blocks, int *sum)
__global__ void count(int *sum) { atomicAdd(sum, 1); }
// MOVES: void kmm_plain(const kmm_blocks_t kmm__blocks, float *sum)
extern "C" __global__ void plain(float *sum) { atomicAdd(sum, 1); }
// MOVES: void kmm_helped(const kmm_partials<2, 1> kmm__partials, float *sum);
__global__ void helped(float *sum);
// MOVES: float kmm_index(const kmm_blocks_t kmm__blocks)
__device__ float index() { return blockIdx.x; }
__global__ void helped(float *sum) { atomicAdd(sum, index()); }

void moves(int n, float *x, float *y, double *s, float *sum, int *total)
{
#pragma kmm parallel(i = 0:n) chunk(n / 4) read(x[i]) reduce(+: sum[0])
    dot<<<n / 64, 64>>>(n, x, sum);
#pragma kmm parallel(i = 0:n) chunk(n / 4) reduce(+: s[0])
    dot<<<n / 64, 64>>>(n, s, (void *)nullptr);
// MOVES: kmm_many<float><<<n / 64, 64>>>(kmm_partials<32, 1>(), 1, x, y, n, sum);
#pragma kmm parallel(i = 0:n) chunk(n / 4) read(x[i], y[i]) reduce(+: sum[0])
    many<float><<<n / 64, 64>>>(1, x, y, n, sum);
// MOVES: kmm_special<float><<<n, 1>>>(kmm_blocks_t(), sum);
#pragma kmm parallel(i = 0:n) chunk(n / 4) reduce(+: sum[0])
    special<float><<<n, 1>>>(sum);
#pragma kmm parallel(i = 0:n) chunk(n / 4) reduce(+: total[0])
    count<<<n, 1>>>(total);
#pragma kmm parallel(i = 0:n) chunk(n / 4) reduce(+: sum[0])
    plain<<<n, 1>>>(sum);
#pragma kmm parallel(i = 0:n) chunk(n / 4) reduce(+: sum[0])
    helped<<<n, 1>>>(sum);
}
