// A launch without a pragma, whose pointers lie in front of their arrays: what follows it waits for it, on each kind of device.
// RUN: %kmmcc --target=host %san -O1 -w -fkmm-manage=all %s -o %t
// RUN: env KMM_DEVICES=host %t | FileCheck %s
// RUN: env KMM_DEVICES=host:1,mem=1M KMM_FRAME=64K %t | FileCheck %s
// CHECK: 0 wrong
#include <cuda_runtime.h>
#include <stdio.h>
enum { N = 1 << 14 };
__global__ void twice(int n, float *x, const float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= n)
        x[i] = y[i] * 2;
}
int main()
{
    static float h[N];
    int wrong = 0;
    for (int round = 0; round < 20; round++) {
        float *x, *y;
        cudaMalloc(&x, sizeof(h));
        cudaMalloc(&y, sizeof(h));
        for (int i = 0; i < N; i++)
            h[i] = i + round;
        cudaMemcpy(y, h, sizeof(h), cudaMemcpyHostToDevice);
        cudaMemset(x, 0, sizeof(h));
        twice<<<N / 256, 256>>>(N, x - 1, y - 1);
        cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; i++)
            wrong += h[i] != 2 * (i + round);
        cudaFree(x);
        cudaFree(y);
    }
    printf("%d wrong\n", wrong);
}
