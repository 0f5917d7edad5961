// REQUIRES: nvcc
// How Makefiles of public programs call nvcc, and what the flags allow in the source.
// RUN: rm -rf %t && mkdir %t && cp %s %t/main.cpp && cp %s %t/main.c
// RUN: cd %t && %kmmcc --target=cuda -std=c++17 -Xcompiler -Wall -arch=sm_90 -O3 --extended-lambda --expt-relaxed-constexpr --use_fast_math -I../ -DSCALE=2 -MMD -MP -x cu -c main.cpp -o main.o && FileCheck --input-file=main.d %s
// RUN: cd %t && %kmmcc --target=cuda --std c++17 -arch sm_90 --extended-lambda --expt-relaxed-constexpr -Xcompiler -fopenmp -DSCALE=2 -dc main.c --x cu -o main2.o
// RUN: cd %t && %kmmcc --target=cuda -arch=sm_90 -Xcompiler -fopenmp main2.o -o main
// RUN: cd %t && %kmmcc --target=cuda -arch=sm_90 main.o -o main -lm
// CHECK: main.o{{ *}}:
// CHECK: main.cpp
#include <cuda_runtime.h>
#include <math.h>

constexpr int twice(int i) { return 2 * i; }

template <class F> __global__ void apply(int n, float *__restrict__ x, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        __stcs(x + i, f(__ldcs(x + i)) + twice(i));
}

int main()
{
    float *x;
    int n = 1000, count = 0;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    auto f = [=] __device__(float v) { return SCALE * sinf(v) + n; };
    #pragma kmm parallel(i = 0:n) chunk(n / 4) update(x[i])
    apply<<<(n + 255) / 256, 256>>>(n, x, f);
    #pragma omp parallel for reduction(+: count)
    for (int i = 0; i < n; i++)
        count += i;
    return cudaDeviceSynchronize() != cudaSuccess;
}
