// Calls of the CUDA runtime: boxes of memory, symbols, streams, events, attributes, errors.
// RUN: %kmmcc --target=host %san -O1 -Wall -Wextra -Werror %s -o %t && %t | FileCheck %s
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__constant__ int factors[4];
__device__ int total;
__global__ void scale(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factors[i % 4];
}
__global__ void count(int n) { atomicAdd(&total, n); }
__global__ void __launch_bounds__(128, 2) bounded(int *x) { *x = 1; }

static int failed;
#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess)                                                                  \
            failed += printf("%s: %s\n", #call, cudaGetErrorString(error));                        \
    } while (0)
#define IS(condition)                                                                              \
    do {                                                                                           \
        if (!(condition))                                                                          \
            failed += printf("line %d: not %s\n", __LINE__, #condition);                           \
    } while (0)

static void boxes(void)
{
    enum { W = 5, H = 4, D = 3 };
    int h[D][H][W], g[D + 1][H + 2][W + 1];
    cudaPitchedPtr p;
    cudaExtent whole = make_cudaExtent(W * sizeof(int), H, D);
    for (int k = 0; k < W * H * D; k++)
        (&h[0][0][0])[k] = k;
    memset(g, -1, sizeof(g));
    OK(cudaMalloc3D(&p, whole));
    OK(cudaMemset3D(p, 0, whole));
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(h, W * sizeof(int), W, H);
    c.dstPtr = p;
    c.extent = whole;
    c.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&c));
    c.srcPtr = p;
    c.srcPos = make_cudaPos(sizeof(int), 1, 1);
    c.dstPtr = make_cudaPitchedPtr(g, (W + 1) * sizeof(int), W + 1, H + 2);
    c.dstPos = make_cudaPos(2 * sizeof(int), 3, 2);
    c.extent = make_cudaExtent((W - 1) * sizeof(int), H - 1, D - 1);
    c.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3DAsync(&c));
    for (int z = 0; z < D + 1; z++)
        for (int y = 0; y < H + 2; y++)
            for (int x = 0; x < W + 1; x++)
                IS(g[z][y][x] == (z >= 2 && y >= 3 && x >= 2 ? h[z - 1][y - 2][x - 1] : -1));
    c.extent.width = 1000;
    IS(cudaMemcpy3D(&c) == cudaErrorInvalidValue);
    OK(cudaFree(p.ptr));

    char *rows, back[4][10];
    size_t pitch;
    OK(cudaMallocPitch(&rows, &pitch, 10, 4));
    OK(cudaMemset2D(rows, pitch, 1, 10, 4));
    OK(cudaMemset2DAsync(rows + pitch, pitch, 2, 3, 2));
    OK(cudaMemcpy2D(back, 10, rows, pitch, 10, 4, cudaMemcpyDeviceToHost));
    IS(back[0][0] == 1 && back[1][2] == 2 && back[1][3] == 1 && back[2][0] == 2 && back[3][0] == 1);
    OK(cudaFree(rows));
}

static void symbols(void)
{
    const int f[4] = {2, 3, 5, 7};
    int g[4], zero = 0, *x, h[100];
    size_t bytes;
    void *at;
    OK(cudaMemcpyToSymbol(factors, f, sizeof(f)));
    OK(cudaMemcpyFromSymbolAsync(g, factors, 2 * sizeof(int), 2 * sizeof(int)));
    IS(g[0] == 5 && g[1] == 7);
    OK(cudaGetSymbolSize(&bytes, factors));
    OK(cudaGetSymbolAddress(&at, total));
    IS(bytes == sizeof(f) && at);
    OK(cudaMemcpyToSymbolAsync(total, &zero, sizeof(zero)));
    for (int k = 1; k <= 10; k++)
        count<<<3, 4>>>(k);
    OK(cudaMemcpyFromSymbol(&zero, total, sizeof(zero)));
    IS(zero == 55 * 12);
    for (int k = 0; k < 100; k++)
        h[k] = k;
    OK(cudaMalloc(&x, sizeof(h)));
    OK(cudaMemcpy(x, h, sizeof(h), cudaMemcpyDefault));
    scale<<<4, 32>>>(100, x);
    OK(cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost));
    for (int k = 0; k < 100; k++)
        IS(h[k] == k * f[k % 4]);
    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, x));
    IS(a.type == cudaMemoryTypeDevice && a.devicePointer == x);
    OK(cudaPointerGetAttributes(&a, h));
    IS(a.type == cudaMemoryTypeUnregistered);
    OK(cudaHostRegister(h, sizeof(h), cudaHostRegisterDefault));
    OK(cudaHostUnregister(h));
    OK(cudaFree(x));
}

static void called(void *sum) { *(int *)sum += 1; }
static void called_back(cudaStream_t, cudaError_t error, void *sum) { *(int *)sum += error == cudaSuccess ? 10 : 0; }

static void streams(void)
{
    cudaStream_t a, b;
    cudaEvent_t start, stop;
    int least, greatest, priority, *x, sum = 0, h[2] = {0, 0};
    float ms = -1;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithPriority(&a, cudaStreamNonBlocking, greatest));
    OK(cudaStreamCreate(&b));
    OK(cudaStreamGetPriority(a, &priority));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    OK(cudaMallocAsync(&x, 8, a));
    OK(cudaMemsetAsync(x, 0, 8, a));
    OK(cudaEventRecord(start, a));
    for (int k = 0; k < 20; k++)
        bounded<<<1, 1, 0, a>>>(x);
    OK(cudaEventRecordWithFlags(stop, a));
    OK(cudaStreamWaitEvent(b, stop, 0));
    OK(cudaMemcpyAsync(h, x, 8, cudaMemcpyDeviceToHost, b));
    OK(cudaLaunchHostFunc(b, called, &sum));
    OK(cudaStreamAddCallback(b, called_back, &sum, 0));
    OK(cudaStreamSynchronize(b));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventQuery(stop));
    OK(cudaStreamQuery(a));
    OK(cudaEventElapsedTime(&ms, start, stop));
    IS(ms >= 0 && ms < 10000 && sum == 11 && h[0] == 1 && h[1] == 0);
    OK(cudaFreeAsync(x, a));
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
}

static void device(void)
{
    cudaDeviceProp p;
    cudaFuncAttributes f;
    int blocks, grid, threads, value, version, can;
    size_t bytes, all;
    unsigned flags;
    OK(cudaGetDeviceProperties(&p, 0));
    IS(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.multiProcessorCount > 0 && p.totalGlobalMem > 0 && p.name[0]);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    IS(value == 1024);
    OK(cudaFuncGetAttributes(&f, bounded));
    IS(f.maxThreadsPerBlock >= 128);
    OK(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768));
    OK(cudaFuncSetCacheConfig(bounded, cudaFuncCachePreferL1));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
    IS(blocks > 0);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 2000, 0));
    IS(blocks == 0);
    IS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 0, 0) == cudaErrorInvalidValue);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, scale, 0, 100));
    IS(grid > 0 && threads > 0 && threads <= 100);
    OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &threads, scale, [](int t) { return (size_t)t * 4; }));
    IS(threads % 32 == 0);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    OK(cudaMemGetInfo(&bytes, &all));
    IS(bytes <= all);
    OK(cudaRuntimeGetVersion(&version));
    OK(cudaGetDeviceFlags(&flags));
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    IS(version >= 12000 && !can);
    IS(cudaSetDevice(99) != cudaSuccess);
    IS(!strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
    bounded<<<1, 4096>>>(nullptr);
    IS(cudaPeekAtLastError() != cudaSuccess);
    IS(cudaGetLastError() != cudaSuccess);
    OK(cudaGetLastError());
    OK(cudaDeviceReset());
}

int main()
{
    boxes();
    symbols();
    streams();
    device();
    printf("failed: %d\n", failed);
    return failed != 0;
}
// CHECK-NOT: line
// CHECK: failed: 0
