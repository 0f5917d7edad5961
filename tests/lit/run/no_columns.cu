// A range without elements, and so without columns of the rows that kmmcc infers, runs nothing.
// RUN: %kmmcc --target=host %san -w %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_JOIN=0 %t | FileCheck %s
// CHECK: no error, 0
#include <cuda_runtime.h>
#include <stdio.h>
__global__ void col(unsigned rows, unsigned cols, float *v) { unsigned c = blockIdx.x * blockDim.x + threadIdx.x; if (c < cols) for (unsigned r = 0; r < rows; r++) v[r * cols + c] = r * 2.f; }
__global__ void coli(int rows, int cols, float *v) { int c = blockIdx.x * blockDim.x + threadIdx.x; if (c < cols) for (int r = 0; r < rows; r++) v[r * cols + c] = r * 2.f; }
int main(int n, char **) {
    float *v; cudaMalloc((void **)&v, 4000); cudaMemset(v, 0, 4000); int zero = n - 1;
#pragma kmm parallel
    coli<<<10, 32>>>(5, zero, v);
#pragma kmm parallel
    col<<<10, 32>>>(5, zero, v);
    float first = 1;
    cudaMemcpy(&first, v, 4, cudaMemcpyDeviceToHost);
    printf("%s, %g\n", cudaGetErrorString(cudaGetLastError()), first);
}
