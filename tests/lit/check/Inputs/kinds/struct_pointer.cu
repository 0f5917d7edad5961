// SPDX-License-Identifier: Apache-2.0
// pointer in a struct argument
#include <cuda_runtime.h>
#include <stdlib.h>
enum { N = 4096 };
#include "array.h"
struct view { const float *x; float *y; int n; };
__global__ void k(view v) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < v.n) v.y[i] = v.x[i] + v.x[i + 1]; }
int main()
{
    float *x = array(), *y = array();
    int n = N;
    view v = {x, y, n};
#pragma kmm parallel(i = 0:v.n) chunk(v.n / 4) read(v.x[i]) write(v.y[i])
    k<<<(n + 255) / 256, 256>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
