// Streams, events, the device's properties, errors, and printf in a kernel.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && %t 2>/dev/null | FileCheck %s
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
__global__ void hello(int *x) { printf("hello %d\n", *x); *x += 1; }
int main()
{
    cudaStream_t s; cudaEvent_t a, b; int *x, h = 41; float ms = -1;
    cudaStreamCreate(&s); cudaEventCreate(&a); cudaEventCreate(&b);
    cudaMalloc(&x, sizeof(int));
    cudaMemcpyAsync(x, &h, sizeof(h), cudaMemcpyHostToDevice, s);
    cudaEventRecord(a, s);
    hello<<<1, 1, 0, s>>>(x);
    cudaEventRecord(b, s);
    cudaEventSynchronize(b);
    cudaEventElapsedTime(&ms, a, b);
    cudaMemcpy(&h, x, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d %d\n", h, ms >= 0);
    // CHECK: hello 41
    // CHECK: 42 1
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    printf("%d\n", p.warpSize);
    // CHECK: 32
    printf("%d\n", cudaMemcpy(x, &h, 8, cudaMemcpyDeviceToHost) != cudaSuccess);
    int first = cudaGetLastError(), second = cudaGetLastError();
    printf("%d %d\n", first != cudaSuccess, second);
    // CHECK: {{^}}1
    // CHECK: 1 0
    cudaEventDestroy(a); cudaEventDestroy(b); cudaStreamDestroy(s);
    printf("%s\n", cudaGetErrorString(cudaFree(x)));
    // CHECK: no error
}
