// RUN: %kmmcc --target=host %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// Variables of a kernel with names of types, also of those that the block's values have.
#include <cuda_runtime.h>
#include <cstdio>
typedef float real;
struct pair { int a, b; };
namespace lib { struct pair { float a; }; enum kind { ONE, TWO }; }
template <class T> struct box { T v; };
__device__ static pair make(int v) { __syncthreads(); return pair{v, v + 1}; }
__global__ void k(int n, int *x, pair dim3)
{
    __shared__ int tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    real v = i % 5;
    pair p = make(i % 3);
    struct pair2 { int a; } q = { 4 };
    auto kind = lib::TWO;
    box<pair> bp = { { 1, i } };
    tile[threadIdx.x] = i % 7;
    {
        int real = 2, pair = 3, uint3 = 4, size_t = 5, box = 6, lib = 7, pair2 = 8;
        __syncthreads();
        v += real + tile[127 - threadIdx.x] + uint3 + (int)size_t;
        int w = pair + p.a + box + lib + pair2 + q.a;
        __syncthreads();
        v += w + bp.v.a + kind;
        int sh = __shfl_xor_sync(0xffffffff, w, 1);
        for (int int2 = 0; int2 < 2; int2++) { __syncthreads(); tile[threadIdx.x] += int2; }
        __syncthreads();
        v += sh + tile[threadIdx.x];
    }
    if (i < n) x[i] = (int)v + p.b + q.a + dim3.a + bp.v.b % 4;
}
int main()
{
    const int n = 60032; int *x, *y = new int[n]; cudaMalloc(&x, 4 * n); cudaMemset(x, 0, 4 * n);
#pragma kmm parallel(i = 0:n) chunk(n / 7) write(x[i])
    k<<<(n + 127) / 128, 128>>>(n, x, pair{3, 4});
    // CHECK: 10925727
    cudaMemcpy(y, x, 4 * n, cudaMemcpyDeviceToHost); long s = 0; for (int i = 0; i < n; i++) s += y[i] * (i % 3 + 1); std::printf("%ld\n", s);
}
