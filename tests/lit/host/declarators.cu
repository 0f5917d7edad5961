// RUN: %kmmcc --target=host %san -O1 -w %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// RUN: %kmmcc --target=host %san -w -fkmm-fibers %s -o %t.fibers && env KMM_DEVICES=host %t.fibers | FileCheck %s
// Declarations of several variables around barriers: one is in what the next one's function with a barrier gets; names stand
// in parentheses.
// CHECK: 0 differ
#include <cuda_runtime.h>
#include <stdio.h>

__device__ int twice(int v) { return 2 * v; }
__device__ int negative(int v) { return -v; }
__device__ int opposite(int v)
{
    __shared__ int s[64];
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
    return s[63 - threadIdx.x];
}
__global__ void in_turn(int *o)
{
    int t = threadIdx.x, v = opposite(t), w = opposite(v + 1), z = w;
    o[t] = v + 100 * w + z;
}
__global__ void in_loop(int *o)
{
    int t = threadIdx.x, sum = 0;
    for (int v = opposite(t), w = v + 1; w < 100; w += 50)
        sum += v + w;
    o[t] = sum;
}
__global__ void parentheses(int *o)
{
    __shared__ int s[64], m[16][4];
    int(t) = threadIdx.x;
    int(a) = t + 1, (*p) = &a, (b){t};
    int (*f)(int) = t & 1 ? twice : negative;
    int(*row)[4] = &m[t / 4];
    s[t] = *p;
    (*row)[t % 4] = t;
    __syncthreads();
    o[t] = f(s[63 - t]) + a * 1000 + b + (*row)[0];
}
__global__ void called(int *o)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    int(a)(t * 2);
    s[t] = a;
    __syncthreads();
    o[t] = s[63 - t] + a;
}

static int differ;
template <class Expected> static void run(void (*kernel)(int *), Expected expected)
{
    int h[64], *x;
    cudaMalloc(&x, sizeof(h));
    kernel<<<1, 64>>>(x);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    for (int t = 0; t < 64; t++)
        differ += h[t] != expected(t);
    cudaFree(x);
}

int main(void)
{
    run(in_turn, [](int t) { return 63 - t + 101 * (t + 1); });
    run(in_loop, [](int t) { int s = 0; for (int w = 64 - t; w < 100; w += 50) s += 63 - t + w; return s; });
    run(parentheses, [](int t) { return (t & 1 ? 2 : -1) * (64 - t) + (t + 1) * 1000 + t + t / 4 * 4; });
    run(called, [](int t) { return 126; });
    printf("%d differ\n", differ);
    return 0;
}
