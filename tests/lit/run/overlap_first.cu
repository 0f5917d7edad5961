// A launch whose chunks write the same elements is refused before its first chunk runs: the arrays are as they were.
// RUN: %kmmcc --target=host -O1 -w %san %s -o %t
// RUN: %t 2> %t.err | FileCheck %s
// RUN: FileCheck --check-prefix=ERROR %s < %t.err
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2> %t.err | FileCheck %s
// RUN: FileCheck --check-prefix=ERROR %s < %t.err
// RUN: env KMM_DEVICES=host:2 KMM_CHECK=access %t 2> %t.err | FileCheck %s
// RUN: FileCheck --check-prefix=ERROR --implicit-check-not=stores %s < %t.err
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void f(int n, int k, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i / k] = 1;
}

__global__ void tile(int n, int *x)
{
    x[(blockIdx.y * blockDim.y + threadIdx.y) * n + blockIdx.x * blockDim.x + threadIdx.x] = 2;
}

static long sum(const int *x, int n)
{
    int *h = new int[n];
    long s = 0;
    cudaDeviceSynchronize();
    cudaGetLastError();
    cudaMemcpy(h, x, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        s += h[i];
    delete[] h;
    return s;
}

int main(int argc, char **)
{
    int n = 60000, k = argc + 1, st = argc, *x, *h = new int[n];
    cudaMalloc(&x, n * sizeof(int));
    for (int i = 0; i < n; i++)
        h[i] = 9;
    cudaMemcpy(x, h, n * sizeof(int), cudaMemcpyHostToDevice);
    // ERROR: overlap_first.cu:[[#@LINE+1]]: f: chunk 1 of 7: argument x[st * i : 2]: another chunk of this launch writes the same elements
    #pragma kmm parallel(i = 0:n) chunk(n / 7) update(x[st * i : 2])
    f<<<n / 100, 100>>>(n, k, x);
    // CHECK: cudaErrorInvalidValue 540000
    printf("%s ", cudaGetErrorName(cudaGetLastError()));
    printf("%ld\n", sum(x, n));

    // Two items of one array: x[i] of a chunk and x[i + 1] of the one before it.
    // ERROR: overlap_first.cu:[[#@LINE+1]]: f: chunk 1 of 6: argument x[st * i]: another chunk of this launch writes the same elements
    #pragma kmm parallel(i = 0:n) chunk(n / 6) update(x[st * i], x[st * i + 1])
    f<<<n / 100, 100>>>(n, 1, x);
    // CHECK: cudaErrorInvalidValue 540000
    printf("%s ", cudaGetErrorName(cudaGetLastError()));
    printf("%ld\n", sum(x, n));

    // Rows that are shorter than what a chunk of columns writes; and as long, which is right.
    int rows = 100, columns = 200, shorter = columns - st;
    // ERROR: overlap_first.cu:[[#@LINE+1]]: tile: chunk 1 of 2: argument x[r * shorter + c]: another chunk of this launch writes the same elements
    #pragma kmm parallel(c = 0:columns, r = 0:rows) chunk(columns, 50) update(x[r * shorter + c])
    tile<<<dim3(columns / 10, rows / 10), dim3(10, 10)>>>(columns, x);
    // CHECK: cudaErrorInvalidValue 540000
    printf("%s ", cudaGetErrorName(cudaGetLastError()));
    printf("%ld\n", sum(x, n));
    #pragma kmm parallel(c = 0:columns, r = 0:rows) chunk(100, 50) update(x[r * columns + c])
    tile<<<dim3(columns / 10, rows / 10), dim3(10, 10)>>>(columns, x);
    // CHECK: cudaSuccess 400000
    printf("%s ", cudaGetErrorName(cudaGetLastError()));
    printf("%ld\n", sum(x, n));
    // ERROR-NOT: data lost
    cudaFree(x);
    return 0;
}
