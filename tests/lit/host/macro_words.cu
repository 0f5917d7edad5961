// RUN: %kmmcc --target=host %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// Macros of the program with names that the block's values have in kmm's headers.
#include <cstdio>
#include <cuda_runtime.h>
#define grid 469
#define index 1
#define extent 2
#define loop 3
__global__ void fill(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = index + extent + loop;
}
int main()
{
    const int n = 60000;
    int *x, *h = new int[n];
    cudaMalloc(&x, 4 * n);
#pragma kmm parallel(i = 0:n) chunk(n / 7) write(x[i])
    fill<<<grid, 128>>>(n, x);
    cudaMemcpy(h, x, 4 * n, cudaMemcpyDeviceToHost);
    long s = 0;
    for (int i = 0; i < n; i++)
        s += h[i];
    // CHECK: 360000
    std::printf("%ld\n", s);
    delete[] h;
}
