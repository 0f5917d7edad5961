// REQUIRES: nvcc
// RUN: %kmmcc --target=cuda -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o
// Several kernels and pragmas on one line.
#include <cuda_runtime.h>
__global__ void set(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1; } __global__ void set(int n, double *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1; }
#define TWO(n, x, y) _Pragma("kmm parallel chunk(100)") set<<<4, 256>>>(n, x); _Pragma("kmm parallel chunk(100)") { set<<<4, 256>>>(n, y); }
void run(int n, float *x, double *y) { TWO(n, x, y) TWO(n, x, y) }
