// An unsigned offset that stands for a negative number is refused, not taken for a region without elements. Halos are not.
// RUN: %kmmcc --target=host %san -O1 -w %s -o %t
// RUN: env KMM_DEVICES=host %t 2>&1 | FileCheck %s
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2>&1 | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>
__global__ void add(int n, unsigned off, const float *y, float *x) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= 5 && i < n) x[i] += y[i + off]; }
__global__ void rows(int h, int w, unsigned off, const float *y, float *x) { unsigned r = blockIdx.x * blockDim.x + threadIdx.x; if (r >= 5 && r < h) x[r] += y[(r + off) * w]; }
__global__ void before(int n, const float *y, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += i >= 3 ? y[i - 3] : 1; }
int main()
{
    float *x, *y, h = 0;
    unsigned off = 5;
    off = -off; // a variable that is never changed would be refused while compiling
    int n = 6000, w = 4;
    cudaMalloc(&x, 4 * n), cudaMalloc(&y, 4 * n);
    cudaMemset(x, 0, 4 * n), cudaMemset(y, 0, 4 * n);
// CHECK: far.cu:[[#@LINE+2]]: add: argument y[i + off]: its region lies far outside of its array; where an unsigned offset stands for a negative number, convert it to int
// CHECK-NEXT: add {{[^n]}}
#pragma kmm parallel(i = 5:n - 5) chunk(1000) read(y[i + off]) update(x[i])
    add<<<(n + 63) / 64, 64>>>(n, off, y, x);
    printf("add %s\n", cudaGetErrorString(cudaGetLastError()));
    fflush(stdout);
// CHECK: far.cu:[[#@LINE+2]]: rows: argument y[r + off][0:1]: its region lies far outside
// CHECK-NEXT: rows {{[^n]}}
#pragma kmm parallel(r = 5:n / 4 - 5) chunk(256) shape(y[n / 4][w]) read(y[r + off][0:1]) update(x[r])
    rows<<<(n + 63) / 64, 64>>>(n / 4, 4, off, y, x);
    printf("rows %s\n", cudaGetErrorString(cudaGetLastError()));
    fflush(stdout);
// CHECK: add no error
#pragma kmm parallel(i = 5:n - 5) chunk(1000) read(y[i + (int)off]) update(x[i])
    add<<<(n + 63) / 64, 64>>>(n, off, y, x);
    printf("add %s\n", cudaGetErrorString(cudaGetLastError()));
    n = 2;
// CHECK: before no error 1
#pragma kmm parallel(i = 0:n) chunk(1) read(y[i - 3]) update(x[i])
    before<<<1, 64>>>(n, y, x);
    cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost);
    printf("before %s %g\n", cudaGetErrorString(cudaGetLastError()), h);
    return 0;
}
