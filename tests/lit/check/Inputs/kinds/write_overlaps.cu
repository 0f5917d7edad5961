// SPDX-License-Identifier: Apache-2.0
// `write` whose chunks overlap
#include <cuda_runtime.h>
#include <stdlib.h>
enum { N = 4096 };
#include "array.h"
__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = y[i + 1] = x[i]; }
int main()
{
    float *x = array(), *y = array();
    int n = N;
#pragma kmm parallel(i = 0:N) chunk(N / 4) read(x[i]) write(y[i:2])
    k<<<(n + 255) / 256, 256>>>(n, x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
