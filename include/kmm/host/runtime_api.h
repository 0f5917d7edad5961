/* SPDX-License-Identifier: Apache-2.0 */
/* The host's calls of the CUDA runtime, over libkmm. A call that is not here names itself when it is used. */
#ifndef KMM_HOST_RUNTIME_API_H
#define KMM_HOST_RUNTIME_API_H

#include <stdlib.h>
#include <string.h>

#include "../../kmm.h"
#include "../cuda_api.h"
#include "kernel.h"

/* ---- Errors ---- */

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};

static inline cudaError_t cudaGetLastError() { return (cudaError_t)kmm_cuda_get_last_error(); }
static inline cudaError_t cudaPeekAtLastError() { return (cudaError_t)kmm_cuda_peek_at_last_error(); }
static inline const char *cudaGetErrorString(cudaError_t e) { return kmm_cuda_get_error_string((int)e); }
static inline const char *cudaGetErrorName(cudaError_t e) { return kmm_cuda_get_error_name((int)e); }

/* ---- Memory ---- */

static inline cudaError_t cudaMalloc(void **p, size_t bytes) { return (cudaError_t)kmm_cuda_malloc(p, bytes); }
template <class T> static inline cudaError_t cudaMalloc(T **p, size_t bytes) { return cudaMalloc((void **)(void *)p, bytes); }
static inline cudaError_t cudaFree(void *p) { return (cudaError_t)kmm_cuda_free(p); }
template <class T> static inline cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t) { return cudaMalloc((void **)(void *)p, bytes); }
static inline cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return cudaFree(p); }
template <class T> static inline cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc((void **)(void *)p, *pitch * height);
}

/* Page-locked memory is the host's; kernels on the CPU can use it too. */
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4 };
enum { cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2 };
template <class T> static inline cudaError_t cudaMallocHost(T **p, size_t bytes)
{
    *p = (T *)aligned_alloc(4096, (bytes + 4095) / 4096 * 4096 + 4096);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
template <class T> static inline cudaError_t cudaHostAlloc(T **p, size_t bytes, unsigned) { return cudaMallocHost(p, bytes); }
static inline cudaError_t cudaFreeHost(void *p) { kmm_cuda_device_synchronize(); free(p); return cudaSuccess; }
static inline cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
static inline cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned) { *device = (T *)host; return cudaSuccess; }

static inline cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind) { return (cudaError_t)kmm_cuda_memcpy(dst, src, bytes, kind); }
static inline cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind, cudaStream_t s = nullptr) { return (cudaError_t)kmm_cuda_memcpy_async(dst, src, bytes, kind, s); }
static inline cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height, cudaMemcpyKind kind) { return (cudaError_t)kmm_cuda_memcpy_2d(dst, dst_pitch, src, src_pitch, width, height, kind); }
static inline cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr) { return cudaMemcpy2D(dst, dst_pitch, src, src_pitch, width, height, kind); }

/* Memory that kernels on the CPU can use as it is may be set, too. */
static inline cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
    if (kmm_cuda_is_managed(dst))
        return (cudaError_t)kmm_cuda_memset(dst, value, bytes);
    kmm_cuda_device_synchronize();
    memset(dst, value, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t = nullptr) { return cudaMemset(dst, value, bytes); }

static inline cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    kmm_device_info_t info;
    if (kmm_device_get(kmm_default(), 0, &info))
        return cudaErrorNoDevice;
    *total = info.memory_bytes ? info.memory_bytes : (size_t)16 << 30;
    *free_bytes = *total - (info.used_bytes < *total ? info.used_bytes : *total);
    return cudaSuccess;
}

/* ---- Symbols: variables of the program ---- */

template <class T> static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *src, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice)
{
    kmm_cuda_device_synchronize();
    return (cudaError_t)kmm_cuda_memcpy((char *)(void *)(uintptr_t)&symbol + offset, src, bytes, cudaMemcpyDefault);
}
template <class T> static inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost)
{
    kmm_cuda_device_synchronize();
    return (cudaError_t)kmm_cuda_memcpy(dst, (const char *)(const void *)&symbol + offset, bytes, cudaMemcpyDefault);
}
template <class T> static inline cudaError_t cudaMemcpyToSymbolAsync(T &symbol, const void *src, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) { return cudaMemcpyToSymbol(symbol, src, bytes, offset, kind); }
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **p, const T &symbol) { *p = (void *)(uintptr_t)&symbol; return cudaSuccess; }
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &) { *bytes = sizeof(T); return cudaSuccess; }

/* ---- Devices ---- */

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, totalConstMem, memPitch;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
    int multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, memoryClockRate, memoryBusWidth;
    int l2CacheSize, concurrentKernels, asyncEngineCount, integrated, canMapHostMemory, unifiedAddressing;
    int managedMemory, concurrentManagedAccess, cooperativeLaunch, computeMode, ECCEnabled, kernelExecTimeoutEnabled;
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxThreadsPerMultiProcessor = 39
};

/* Chunks go to all devices, so a program sees one. */
static inline cudaError_t cudaGetDeviceCount(int *count) { *count = kmm_default() ? 1 : 0; return *count ? cudaSuccess : cudaErrorNoDevice; }
static inline cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
static inline cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
static inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
static inline cudaError_t cudaDeviceSynchronize() { return (cudaError_t)kmm_cuda_device_synchronize(); }
static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaRuntimeGetVersion(int *v) { *v = CUDART_VERSION; return cudaSuccess; }
static inline cudaError_t cudaDriverGetVersion(int *v) { *v = CUDART_VERSION; return cudaSuccess; }

static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    size_t free_bytes;
    kmm_device_info_t info;
    if (device != 0 || kmm_device_get(kmm_default(), 0, &info))
        return cudaErrorInvalidDevice;
    *p = cudaDeviceProp();
    memcpy(p->name, info.name, sizeof(info.name));
    cudaMemGetInfo(&free_bytes, &p->totalGlobalMem);
    p->sharedMemPerBlock = p->sharedMemPerMultiprocessor = 48 << 10;
    p->totalConstMem = 64 << 10;
    p->memPitch = 0x7fffffff;
    p->regsPerBlock = 65536;
    p->warpSize = 32;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->clockRate = p->memoryClockRate = 1000000;
    p->memoryBusWidth = 64;
    p->major = 7;
    p->multiProcessorCount = 1;
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxBlocksPerMultiProcessor = 32;
    p->concurrentKernels = p->integrated = p->canMapHostMemory = p->unifiedAddressing = 1;
    return cudaSuccess;
}

static inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp p;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess)
        return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; return cudaSuccess;
    case cudaDevAttrWarpSize: *value = p.warpSize; return cudaSuccess;
    case cudaDevAttrClockRate: *value = p.clockRate; return cudaSuccess;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

/* Hints for hardware that is not there. */
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum { cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4, cudaDeviceMapHost = 8 };
template <class F> static inline cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
template <class F> static inline cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute, int) { return cudaSuccess; }
static inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }

/* ---- Streams and events ---- */

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
static inline cudaError_t cudaStreamCreate(cudaStream_t *s) { return (cudaError_t)kmm_cuda_stream_create((void **)(void *)s); }
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { return cudaStreamCreate(s); }
static inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned, int) { return cudaStreamCreate(s); }
static inline cudaError_t cudaStreamDestroy(cudaStream_t s) { return (cudaError_t)kmm_cuda_stream_destroy(s); }
static inline cudaError_t cudaStreamSynchronize(cudaStream_t s) { return (cudaError_t)kmm_cuda_stream_synchronize(s); }
static inline cudaError_t cudaStreamQuery(cudaStream_t s) { return (cudaError_t)kmm_cuda_stream_query(s); }
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned = 0) { return (cudaError_t)kmm_cuda_stream_wait_event(s, e); }
static inline cudaError_t cudaEventCreate(cudaEvent_t *e) { return (cudaError_t)kmm_cuda_event_create((void **)(void *)e); }
static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
static inline cudaError_t cudaEventCreate(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
static inline cudaError_t cudaEventDestroy(cudaEvent_t e) { return (cudaError_t)kmm_cuda_event_destroy(e); }
static inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = nullptr) { return (cudaError_t)kmm_cuda_event_record(e, s); }
static inline cudaError_t cudaEventSynchronize(cudaEvent_t e) { return (cudaError_t)kmm_cuda_event_synchronize(e); }
static inline cudaError_t cudaEventQuery(cudaEvent_t e) { return (cudaError_t)kmm_cuda_event_query(e); }
static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) { return (cudaError_t)kmm_cuda_event_elapsed_time(ms, a, b); }

/* ---- What the CPU target does not have ---- */

#define KMM_ABSENT(name)                                                                           \
    template <class... T>                                                                          \
    __attribute__((unavailable(#name " is not provided when CUDA source is compiled for the CPU"))) \
    cudaError_t name(T &&...);
KMM_ABSENT(cudaMallocManaged)
KMM_ABSENT(cudaMemPrefetchAsync)
KMM_ABSENT(cudaMemAdvise)
KMM_ABSENT(cudaMalloc3D)
KMM_ABSENT(cudaMemcpy3D)
KMM_ABSENT(cudaMallocArray)
KMM_ABSENT(cudaMemcpyToArray)
KMM_ABSENT(cudaBindTexture)
KMM_ABSENT(cudaCreateTextureObject)
KMM_ABSENT(cudaMemset2D)
KMM_ABSENT(cudaLaunchKernel)
KMM_ABSENT(cudaLaunchCooperativeKernel)
KMM_ABSENT(cudaLaunchHostFunc)
KMM_ABSENT(cudaStreamAddCallback)
KMM_ABSENT(cudaStreamBeginCapture)
KMM_ABSENT(cudaGraphCreate)
KMM_ABSENT(cudaGraphLaunch)
KMM_ABSENT(cudaPointerGetAttributes)
KMM_ABSENT(cudaDeviceEnablePeerAccess)
KMM_ABSENT(cudaMemcpyPeer)
KMM_ABSENT(cudaFuncGetAttributes)
KMM_ABSENT(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
KMM_ABSENT(cudaOccupancyMaxPotentialBlockSize)
#undef KMM_ABSENT

#endif
