// Launches and calls that CUDA refuses.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t 2>&1 | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

template <int n> __global__ void __launch_bounds__(n * (1 + 1), 2) bounded(int *x) { x[threadIdx.x] = 1; }
__global__ void __launch_bounds__(64) waiting(int *x)
{
    __syncthreads();
    x[threadIdx.x] = 2;
}
__global__ void dynamic(int *x, int last)
{
    extern __shared__ int s[];
    s[last] = 3;
    *x = s[last];
}

static int failed;
#define IS(call, expected)                                                                         \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != (expected))                                                                   \
            failed += printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error));       \
    } while (0)

static void launches(int *x)
{
    bounded<32><<<1, 64>>>(x);
    IS(cudaGetLastError(), cudaSuccess);
    bounded<32><<<1, 65>>>(x);
    IS(cudaGetLastError(), cudaErrorInvalidValue);
    waiting<<<1, dim3(8, 8)>>>(x);
    IS(cudaGetLastError(), cudaSuccess);
    waiting<<<1, dim3(8, 9)>>>(x);
    IS(cudaGetLastError(), cudaErrorInvalidValue);
    waiting<<<0, 8>>>(x);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    dynamic<<<1, dim3(1, 1, 65), 16>>>(x, 0);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    dynamic<<<dim3(1, 65536), 1, 16>>>(x, 0);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    dynamic<<<0x80000000u, 1, 16>>>(x, 0);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
    dynamic<<<1, 1, 48 << 10>>>(x, (48 << 8) - 1);
    IS(cudaGetLastError(), cudaSuccess);
    dynamic<<<1, 1, 60000>>>(x, 60000 / 4 - 1);
    IS(cudaGetLastError(), cudaErrorInvalidValue);
    IS(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20), cudaErrorInvalidValue);
    IS(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000), cudaSuccess);
    dynamic<<<1, 1, 60000>>>(x, 60000 / 4 - 1);
    IS(cudaGetLastError(), cudaSuccess);
    dynamic<<<1, 1, 60001>>>(x, 0);
    IS(cudaGetLastError(), cudaErrorInvalidValue);
    IS(cudaDeviceSynchronize(), cudaSuccess);
}

__global__ void plain(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

// What is described of a launch that is refused is not taken for the next one's.
static void described(int *x)
{
    int n = 100;
    IS(cudaMemset(x, 0, n * sizeof(*x)), cudaSuccess);
#pragma kmm parallel(i = 0:n) chunk(10) update(x[i])
    plain<<<1, 2000>>>(x);
    IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
#pragma kmm parallel(i = 0:n) chunk(10) update(x[i])
    bounded<32><<<1, 100>>>(x);
    IS(cudaGetLastError(), cudaErrorInvalidValue);
#pragma kmm parallel(i = 0:n) chunk(10) update(x[i])
    plain<<<10, 10>>>(x);
    IS(cudaGetLastError(), cudaSuccess);
    int last = 0;
    IS(cudaMemcpy(&last, x + n - 1, sizeof(last), cudaMemcpyDeviceToHost), cudaSuccess);
    failed += last != 1;
}

static void events()
{
    cudaEvent_t timed, untimed;
    float ms = 0;
    IS(cudaEventCreateWithFlags(&timed, cudaEventBlockingSync), cudaSuccess);
    IS(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
    IS(cudaEventRecord(timed), cudaSuccess);
    IS(cudaEventRecord(untimed), cudaSuccess);
    IS(cudaEventSynchronize(untimed), cudaSuccess);
    IS(cudaEventElapsedTime(&ms, timed, timed), cudaSuccess);
    IS(cudaEventElapsedTime(&ms, timed, untimed), cudaErrorInvalidResourceHandle);
    IS(cudaEventElapsedTime(&ms, untimed, timed), cudaErrorInvalidResourceHandle);
    IS(cudaEventDestroy(timed), cudaSuccess);
    IS(cudaEventDestroy(untimed), cudaSuccess);
}

static void addresses(int *x)
{
    int own = 0, *both = nullptr, *foreign = (int *)malloc(sizeof(int));
    IS(cudaMemcpy(nullptr, &own, sizeof(own), cudaMemcpyDefault), cudaErrorInvalidValue);
    IS(cudaMemcpy(&own, nullptr, sizeof(own), cudaMemcpyDefault), cudaErrorInvalidValue);
    IS(cudaMemcpy(x, nullptr, sizeof(own), cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    IS(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault), cudaSuccess);
    IS(cudaMemcpy(x, &own, sizeof(own), (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    IS(cudaMallocManaged(&both, sizeof(int)), cudaSuccess); /* from here on cudaFree may be of such memory */
    IS(cudaFree(&own), cudaErrorInvalidValue);
    IS(cudaFree(foreign), cudaErrorInvalidValue);
    IS(cudaFree(both + 1), cudaErrorInvalidValue);
    IS(cudaFree(both), cudaSuccess);
    IS(cudaFree(both), cudaErrorInvalidValue);
    IS(cudaFreeHost(&own), cudaErrorInvalidValue);
    IS(cudaFreeHost(nullptr), cudaSuccess);
    free(foreign);
}

int main()
{
    int *x;
    IS(cudaMalloc(&x, 128 * sizeof(int)), cudaSuccess);
    launches(x);
    described(x);
    events();
    addresses(x);
    IS(cudaFree(x), cudaSuccess);
    printf("%s\n", failed ? "FAILED" : "ok");
    return failed != 0;
}
// CHECK-DAG: is launched with blocks of 65 threads; its __launch_bounds__ has 64
// CHECK-DAG: is launched with 60000 bytes of dynamic shared memory
// CHECK-DAG: {{^ok$}}
