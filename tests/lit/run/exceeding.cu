// A warning of a chunk that is too large names a part of it only if that part fits. Parts of a chunk have whole private copies of reduction targets, and the whole of an array that each chunk needs.
// RUN: %kmmcc --target=host -O1 %san %s -o %t
// RUN: env KMM_DEVICES=host:1,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t 2> %t.err | FileCheck %s
// RUN: FileCheck --check-prefix=WARN %s < %t.err
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void count(int n, const int *idx, int *h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&h[idx[i]], 1);
}

__global__ void gather(int n, const int *idx, int *x, const int *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = table[idx[i]];
}

int main(void)
{
    const int n = 400003;
    int *p = new int[n], *idx, *h, *x;
    for (int i = 0; i < n; i++)
        p[i] = (int)(i * 48271LL % n);
    cudaMalloc(&idx, n * sizeof(int));
    cudaMalloc(&h, n * sizeof(int));
    cudaMalloc(&x, n * sizeof(int));
    cudaMemcpy(idx, p, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(h, 0, n * sizeof(int));
    // WARN: exceeding.cu:[[#@LINE+1]]: count: chunk {{[0-9]+}} of 8: needs {{.*}}; no chunk is small enough, because each uses so much of its arrays [exceeding]
    #pragma kmm parallel(i = 0:n) chunk(n / 8) read(idx[i]) reduce(+: h[0:n])
    count<<<n / 256 + 1, 256>>>(n, idx, h);
    // WARN: exceeding.cu:[[#@LINE+1]]: gather: {{.*}}; no chunk is small enough, because each uses so much of its arrays [exceeding]
    #pragma kmm parallel(i = 0:n) chunk(n) read(idx[i], h[0:n]) write(x[i])
    gather<<<n / 256 + 1, 256>>>(n, idx, x, h);
    cudaMemcpy(p, x, n * sizeof(int), cudaMemcpyDeviceToHost);
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i];
    // CHECK: 400003
    printf("%ld\n", sum);
    return 0;
}
