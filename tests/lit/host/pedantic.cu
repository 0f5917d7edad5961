// SPDX-License-Identifier: Apache-2.0
// The headers for the CPU are warned of by no compiler.
// RUN: %kmmcc --target=host -Wall -Wextra -Wpedantic -Werror -fsyntax-only %s
#include <cuda_runtime.h>
#include <cuda.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <curand_kernel.h>
#include <math_constants.h>
#include <nvtx3/nvToolsExt.h>
__global__ void k(int n, float *x, unsigned long long *y, half *h)
{
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) {
        x[i] = s[255 - threadIdx.x] + __ll2float_rz((long long)y[i]);
        y[i] = __umul64hi(y[i], 3);
        h[i] = __float2half(x[i]);
        atomicAdd(x, 1.0f);
    }
}
void f(int n, float *x, unsigned long long *y, half *h)
{
#pragma kmm parallel(i = 0:n) update(x, y[i]) write(h[i])
    k<<<n / 256, 256>>>(n, x, y, h);
}
