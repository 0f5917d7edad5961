// A loop with the stride of a grid that is smaller than the range: right as one chunk, and an error as several.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && env KMM_DEVICES=host:2 %t 2>&1 | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm -O1 %san %s -o %t && %t | FileCheck %s --check-prefix=PLAIN
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void scale(int n, int *x, const int *from)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        x[i] = from[i] + 1;
}

static int count(const int *x, int n)
{
    static int host[100000];
    int wrong = 0;
    cudaMemcpy(host, x, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        wrong += host[i] != 1;
    return wrong;
}

int main()
{
    int n = 100000, blocks = 10, *x, *from;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&from, n * sizeof(int));
    cudaMemset(from, 0, n * sizeof(int));
    cudaMemset(x, 0, n * sizeof(int));
    #pragma kmm parallel(i = 0:n) write(x[i]) read(from[i])
    scale<<<blocks, 64>>>(n, x, from);
    printf("wrong %d\n", count(x, n));
    fflush(stdout);
    // CHECK: wrong 0
    // CHECK: stride.cu:{{[0-9]+}}: scale: axis i: its range ends at 100000, but the grid's indices at 640; where a kernel loops with a stride each chunk reaches the whole range: leave out the chunk, launch enough blocks, say [:], or say bounded if the kernel has no such loop
    // PLAIN: wrong 0
    cudaMemset(x, 0, n * sizeof(int));
    #pragma kmm parallel(i = 0:n) chunk(320) write(x[i]) read(from[i])
    scale<<<blocks, 64>>>(n, x, from);
    printf("%s\n", cudaGetLastError() == cudaSuccess ? "accepted" : "refused");
    fflush(stdout);
    // CHECK: refused
    // PLAIN: accepted
    cudaMemset(x, 0, n * sizeof(int));
    #pragma kmm parallel(i = 0:n) chunk(n / 4) write(x[i]) read(from[i])
    scale<<<(n + 63) / 64, 64>>>(n, x, from);
    printf("wrong %d\n", count(x, n));
    // CHECK: wrong 0
    // PLAIN: wrong 0
}
