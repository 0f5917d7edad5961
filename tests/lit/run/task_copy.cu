// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:2,mem=4M %t | FileCheck %s
// RUN: %kmmcc --target=host -fno-kmm %san -O1 %s -o %t.erased && %t.erased | FileCheck %s
// CHECK: task: 0 wrong: ok
// Copies, sets and launches inside a task work on its pointers, at once on the CPU.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void add(int n, float *c, const float *a, const float *b) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }
__global__ void scale(int n, float *c, float f) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] *= f; }
int main()
{
    const int n = 100019;
    float *a, *b, *c, *host = (float *)malloc(n * 4);
    cudaMalloc(&a, n * 4L); cudaMalloc(&b, n * 4L); cudaMalloc(&c, n * 4L);
    for (int i = 0; i < n; i++) host[i] = i % 1000;
    cudaMemcpy(a, host, n * 4L, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, n * 4L, cudaMemcpyHostToDevice);
    cudaStream_t s = 0;
    int wrong = 0;
    for (int round = 0; round < 10; round++) {
        #pragma kmm parallel(i = 0:n) chunk(n / 7) read(a[i], b[i]) write(c[i])
        add<<<(n + 255) / 256, 256>>>(n, c, a, b);
        #pragma kmm task stream(s) update(c) read(a) write(b)
        {
            scale<<<(n + 255) / 256, 256, 0, s>>>(n, c, 0.5f);
            cudaMemsetAsync(b, 0, n * 4L, s);
            cudaMemcpyAsync(b, a, n * 4L, cudaMemcpyDeviceToDevice, s);
        }
        #pragma kmm parallel(i = 0:n) chunk(n / 5) read(c[i], b[i]) write(a[i])
        add<<<(n + 255) / 256, 256>>>(n, a, c, b);
        #pragma kmm parallel(i = 0:n) chunk(n / 3) device(0, n - n) schedule(cyclic) priority(2) update(a[i])
        scale<<<(n + 255) / 256, 256>>>(n, a, 0.5f);
        #pragma kmm wait(a)
    }
    cudaMemcpy(host, a, n * 4L, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) wrong += host[i] != (float)(i % 1000);
    printf("task: %d wrong: %s\n", wrong, wrong ? "WRONG" : "ok");
    return wrong != 0;
}
