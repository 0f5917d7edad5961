// RUN: %kmmcc --target=host %san -Wall -Wextra -Werror %s -o %t && env KMM_DEVICES=host %t | FileCheck %s
// Macros of the program with names of members of kmm's types, which code that kmmcc writes names.
#define unused __attribute__((__unused__))
#define used __attribute__((__used__))
#define noinline __attribute__((__noinline__))
#define always_inline __attribute__((__always_inline__))
#define active 5
#define after 6
#define barrier 7
#define choose 8
#define leave 9
#define resume 10
#define turn 11
#define update 12
#define put 13
#define join 14
#define get 15
#define give 16
#define call 17
#define runs 18
#define along 19
#define state 20
#define value 21
#define count 22
#define first 23
#define last 24
#define begin 25
#define end 26
#define size 27
#define data 28
#define mask 29
#define lane 30
#define warp 31
#define kernel 32
#define thread 33
#define each 34
#define whole 35
#define part 36
#define home 37
#define T 38
#define A 39
#define B 40
#define F 41
#define R 42
#define S 43
#define b 44
#define e 45
#define f 46
#define g 47
#define h 48
#define p 49
#define s 50
#define t 51
#define w 52
#define threads 53
#define low 54
#define high 55
#define gone 56
#define next 57
#define rest 58
#define group 59
#define from 60
#define at 61
#define to 62
#define holds 63
#define present 64
#define result 65
#define arrived 66
#define stopped 67
#include <cuda_runtime.h>
#include <cstdio>
static __device__ int met(int v) { __syncthreads(); return v + __syncthreads_count(v & 1); }
__global__ void phases(int n, int *x)
{
    __shared__ int tile[128];
    __shared__ int total;
    extern __shared__ int dynamic[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int kept = i < n ? x[i] : 0;
    tile[threadIdx.x] = kept;
    if (threadIdx.x == 0)
        total = 0;
    dynamic[threadIdx.x] = i;
    __syncthreads();
    for (unsigned k = 64; k > 0; k /= 2) {
        if (threadIdx.x < k)
            tile[threadIdx.x] += tile[threadIdx.x + k];
        __syncthreads();
    }
    for (int k = threadIdx.x; k < 300; k += blockDim.x) {
        atomicAdd(&total, 1);
        __syncwarp();
    }
    if (i >= n)
        return;
    if (blockIdx.x & 1)
        __syncthreads();
    int other = __shfl_down_sync(0xffffffff, kept + 3, 1);
    bool any = __any_sync(0xffffffff, kept > 2);
    switch (kept & 1) {
    case 0: __syncwarp(); break;
    default: other++;
    }
    __syncthreads();
    x[i] = total + (tile[0] & 1) + dynamic[127 - threadIdx.x] % 7 + other + any + met(kept);
}
__global__ void plain(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 2;
}
int main()
{
    const int n = 60032;
    int *x, *y = new int[n];
    cudaMalloc(&x, 4 * n);
    cudaMemset(x, 0, 4 * n);
#pragma kmm parallel(i = 0:n) chunk(n / 7) update(x[i])
    plain<<<(n + 127) / 128, 128>>>(n, x);
#pragma kmm parallel(i = 0:n) chunk(n / 7) update(x[i])
    phases<<<(n + 127) / 128, 128, 512>>>(n, x);
    cudaMemcpy(y, x, 4 * n, cudaMemcpyDeviceToHost);
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += y[i] % 1000;
    // CHECK: 18609920
    std::printf("%ld\n", sum);
    delete[] y;
}
