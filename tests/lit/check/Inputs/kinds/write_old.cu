// SPDX-License-Identifier: Apache-2.0
// `write` for `x = x + ..`
#include <cuda_runtime.h>
#include <stdlib.h>
enum { N = 4096 };
#include "array.h"
__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = y[i] + x[i]; }
int main()
{
    float *x = array(), *y = array();
    int n = N;
#pragma kmm parallel(i = 0:n) chunk(n / 4) read(x[i]) write(y[i])
    k<<<(n + 255) / 256, 256>>>(n, x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
