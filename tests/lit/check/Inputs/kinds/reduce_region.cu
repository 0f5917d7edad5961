// SPDX-License-Identifier: Apache-2.0
// `reduce` of a region that is too small
#include <cuda_runtime.h>
#include <stdlib.h>
enum { N = 4096 };
#include "array.h"
__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&y[i % 16], x[i] + 1); }
int main()
{
    float *x = array(), *y = array();
    int n = N;
#pragma kmm parallel(i = 0:n) chunk(n / 4) read(x[i]) reduce(+: y[0:8])
    k<<<(n + 255) / 256, 256>>>(n, x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
