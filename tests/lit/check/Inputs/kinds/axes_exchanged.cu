// SPDX-License-Identifier: Apache-2.0
// axes exchanged
#include <cuda_runtime.h>
#include <stdlib.h>
enum { N = 4096 };
#include "array.h"
__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; int j = blockIdx.y; if (i < 64 && j < 64) y[j * 64 + i] = x[j * 64 + i]; }
int main()
{
    float *x = array(), *y = array();
    int n = N;
#pragma kmm parallel(i = 0:64, j = 0:64) chunk(64, 16) shape(x[64][64], y[64][64]) read(x[i][j]) write(y[j][i])
    k<<<dim3(1, 64), 64>>>(n, x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
