// SPDX-License-Identifier: Apache-2.0
// wrong row width in an index
#include <cuda_runtime.h>
#include <stdlib.h>
enum { N = 4096 };
#include "array.h"
__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) for (int j = 0; j < 8; j++) y[i] += x[i * 8 + j]; }
int main()
{
    float *x = array(), *y = array();
    int n = N;
    n = N / 4;
#pragma kmm parallel(i = 0:n) chunk(n / 4) read(x[i * 4:8]) update(y[i])
    k<<<(n + 255) / 256, 256>>>(n, x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
