// What a kernel says of itself: bounds, shared memory, limits of its own; and what these do to occupancy and launches.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t 2>&1 | FileCheck %s
// RUN: %kmmcc --target=host %san -fkmm-fibers %s -o %t && %t 2>&1 | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>

struct point { double x; float y; };

__device__ float across(float x)
{
    __shared__ float s[100];
    s[threadIdx.x] = x;
    __syncthreads();
    return s[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(128) bounded(point p, float *x)
{
    __shared__ float s[256];
    extern __shared__ int dynamic[];
    s[threadIdx.x] = x[0] + (float)dynamic[0] * 0;
    __syncthreads();
    x[threadIdx.x] = s[0] + p.y;
}
template <class T, int n> __global__ void tile(T *x)
{
    __shared__ T s[n][n + 1];
    constexpr int twice = 2 * n;
    __shared__ double q[4][twice / twice];
    s[0][0] = x[0];
    q[3][0] = s[0][0];
    x[0] = s[0][0] + (T)q[3][0];
}
__global__ void calls(float *x) { x[threadIdx.x] = across(x[threadIdx.x]); }
__global__ void plain(float *x) { x[0] = 1; }

static int failed;
#define IS(condition)                                                                              \
    do {                                                                                           \
        if (!(condition))                                                                          \
            failed += printf("line %d: not %s\n", __LINE__, #condition);                           \
    } while (0)

static void attributes()
{
    cudaFuncAttributes f;
    IS(cudaFuncGetAttributes(&f, bounded) == cudaSuccess && f.sharedSizeBytes == 1024 && f.maxThreadsPerBlock == 128);
    IS(f.maxDynamicSharedSizeBytes == (48 << 10) - 1024 && f.numRegs > 0 && f.constSizeBytes == 0);
    IS(cudaFuncGetAttributes(&f, tile<float, 16>) == cudaSuccess && f.sharedSizeBytes >= 16 * 17 * 4 && f.maxThreadsPerBlock == 1024);
    IS(cudaFuncGetAttributes(&f, tile<double, 8>) == cudaSuccess && f.sharedSizeBytes >= 8 * 9 * 8);
    IS(cudaFuncGetAttributes(&f, (const void *)calls) == cudaSuccess && f.sharedSizeBytes == 400);
    IS(cudaFuncGetAttributes(&f, (void *)plain) == cudaSuccess && f.sharedSizeBytes == 0);
    IS(cudaFuncGetAttributes(&f, (const void *)&failed) == cudaErrorInvalidDeviceFunction);
}

static void limits(float *x)
{
    cudaFuncAttributes f;
    IS(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, (227 << 10) - 1023) == cudaErrorInvalidValue);
    IS(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000) == cudaSuccess);
    IS(cudaFuncGetAttributes(&f, bounded) == cudaSuccess && f.maxDynamicSharedSizeBytes == 60000);
    IS(cudaFuncGetAttributes(&f, plain) == cudaSuccess && f.maxDynamicSharedSizeBytes == 48 << 10);
    bounded<<<1, 32, 60000>>>(point{1, 2}, x);
    IS(cudaGetLastError() == cudaSuccess);
    plain<<<1, 32, 60000>>>(x); // what one kernel is allowed no other is
    IS(cudaGetLastError() == cudaErrorInvalidValue);
    calls<<<1, 32, 48 << 10>>>(x); // with its own
    IS(cudaGetLastError() == cudaErrorInvalidValue);
    calls<<<1, 32, (48 << 10) - 400>>>(x);
    IS(cudaGetLastError() == cudaSuccess);
    IS(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 100) == cudaSuccess);
    plain<<<1, 32, 101>>>(x);
    IS(cudaGetLastError() == cudaErrorInvalidValue);
    bounded<<<1, 129>>>(point{1, 2}, x);
    IS(cudaGetLastError() == cudaErrorInvalidValue);
}

static void occupancy()
{
    int grid, threads, blocks;
    size_t bytes;
    IS(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, bounded, 0, 0) == cudaSuccess && threads == 128 && grid > 0);
    IS(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &threads, calls, [](int n) { return n * 1024; }) == cudaSuccess && threads == 32);
    IS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0) == cudaSuccess && blocks == 1);
    IS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 129, 0) == cudaSuccess && blocks == 0);
    IS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, calls, 128, 48 << 10) == cudaSuccess && blocks == 0);
    IS(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, calls, 1, 32) == cudaSuccess && bytes == (48 << 10) - 400);
}

int main()
{
    float *x;
    IS(cudaMalloc(&x, 128 * sizeof(float)) == cudaSuccess && cudaMemset(x, 0, 128 * sizeof(float)) == cudaSuccess);
    attributes();
    occupancy();
    limits(x);
    IS(cudaDeviceSynchronize() == cudaSuccess);
    // CHECK: kernel plain is launched with 60000 bytes of dynamic shared memory; without cudaFuncSetAttribute it can have 49152
    // CHECK: kernel calls is launched with 49152 bytes of dynamic shared memory; without cudaFuncSetAttribute it can have 48752
    // CHECK: kernel bounded is launched with blocks of 129 threads; its __launch_bounds__ has 128
    // CHECK: failed: 0
    fprintf(stderr, "failed: %d\n", failed);
    return failed != 0;
}
