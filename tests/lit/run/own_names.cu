// RUN: %kmmcc --target=host %san -std=c++17 -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | FileCheck %s
// A kernel and its launch may use the program's names kmm, kmm_b, kmm_t and kmm_e: generated code hides none of them.
#include <cstdio>
#include <cuda_runtime.h>
__device__ int kmm_t = 5, kmm_e = 6, kmm_b = 7;
__global__ void mirror(int n, int *x, bool kmm)
{
    __shared__ int s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, before = kmm_t + kmm_e + kmm_b;
    s[127 - threadIdx.x] = before;
    __syncthreads();
    if (i < n)
        x[i] = (kmm ? 1 : 3) + s[threadIdx.x] + kmm_t;
}
int main()
{
    const int n = 60000;
    bool kmm = false;
    static int h[n];
    int *x;
    cudaMalloc(&x, sizeof(h));
#pragma kmm parallel(i = 0:n) chunk(n / 7) write(x[i])
    mirror<<<n / 128 + 1, 128>>>(n, x, kmm);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    long sum = 0;
    for (int v : h)
        sum += v;
    // CHECK: {{^}}1560000{{$}}
    printf("%ld\n", sum);
}
