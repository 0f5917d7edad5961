// Shuffles, votes and atomics of several types, in blocks of three dimensions.
// RUN: %kmmcc --target=host %san -O1 %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

__inline__ __device__ float warp_sum(float v)
{
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}
__global__ void sums(float *out, unsigned *ballot)
{
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    float v = warp_sum((float)t);
    unsigned b = __ballot_sync(0xffffffffu, t % 2);
    if (t % 32 == 0) {
        out[t / 32] = v;
        ballot[t / 32] = b;
    }
}
__device__ int total;
__constant__ int weights[4];
__global__ void histogram(int n, const unsigned char *x, int *bins, double *mean)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&bins[x[i] % 4], weights[x[i] % 4]);
    atomicAdd(mean, 0.5);
    atomicAdd(&total, 1);
}
int main()
{
    float *f, hf[2];
    unsigned *b, hb[2];
    cudaMalloc(&f, sizeof(hf)); cudaMalloc(&b, sizeof(hb));
    sums<<<1, dim3(4, 4, 4)>>>(f, b);
    cudaMemcpy(hf, f, sizeof(hf), cudaMemcpyDeviceToHost);
    cudaMemcpy(hb, b, sizeof(hb), cudaMemcpyDefault);
    printf("%g %g %x %x\n", hf[0], hf[1], hb[0], hb[1]);
    // CHECK: 496 1520 aaaaaaaa aaaaaaaa
    enum { N = 10001 };
    static unsigned char h[N];
    for (int i = 0; i < N; i++)
        h[i] = (unsigned char)i;
    int w[4] = {1, 2, 3, 4}, bins[4], *B, count;
    unsigned char *X;
    double *M, mean;
    cudaMalloc(&X, N); cudaMalloc(&B, sizeof(bins)); cudaMalloc(&M, sizeof(mean));
    cudaMemcpyToSymbol(weights, w, sizeof(w));
    cudaMemset(B, 0, sizeof(bins)); cudaMemset(M, 0, sizeof(mean));
    cudaMemcpy(X, h, N, cudaMemcpyHostToDevice);
    histogram<<<(N + 127) / 128, 128>>>(N, X, B, M);
    cudaMemcpy(bins, B, sizeof(bins), cudaMemcpyDeviceToHost);
    cudaMemcpy(&mean, M, sizeof(mean), cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, total, sizeof(count));
    printf("%d %d %d %d %g %d\n", bins[0], bins[1], bins[2], bins[3], mean, count);
    // CHECK: 2501 5000 7500 10000 5000.5 10001
}
