// RUN: %kmmcc --target=host %san -std=c++17 -I %S/Inputs %s -o %t && %t
// RUN: %if nvcc %{ %kmmcc --target=cuda -std=c++17 -I %S/Inputs -Xcompiler -Wall -Werror all-warnings -c %s -o %t.o %}
// Launches that are calls of the CUDA runtime.
#include "verify.h"
__global__ void set(int *x, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = k * i;
}
template <typename T> __global__ void templated(T *x, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = k * i;
}
int main()
{
    array a;
    int failed = 0, n = N, k = 2, *x = a.at;
    void *arguments[] = {&x, &n, &k};
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    cudaLaunchKernel((const void *)set, dim3(BLOCKS), dim3(BLOCK), arguments, 0, 0);
    EXPECT(a.wrong(2));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    cudaLaunchKernel(set, BLOCKS, BLOCK, arguments);
    EXPECT(a.wrong(2));
    cudaError_t error = cudaSuccess;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    error = cudaLaunchKernel((void *)templated<int>, dim3(BLOCKS), dim3(BLOCK), arguments, 0, 0);
    EXPECT(error != cudaSuccess || a.wrong(2));
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = BLOCKS;
    configuration.blockDim = BLOCK;
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    cudaLaunchKernelEx(&configuration, set, x, n, 3);
    EXPECT(a.wrong(3));
#pragma kmm parallel(i = 0:n) write(x[i]) chunk(100)
    cudaLaunchKernelExC(&configuration, (const void *)templated<int>, arguments);
    EXPECT(a.wrong(2));
    return failed;
}
