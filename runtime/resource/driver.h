/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver calls that resources need besides those of the backend: allocation rather than
 * mapping.
 *
 * The driver is CUDA's if it finds a device, else AMD's HIP runtime. HIP's calls take the same
 * arguments except for a few that driver.c adapts. Functions have CUDA's names here; error texts
 * use the names of the driver in use. The library is opened at first use and stays open. The
 * devices' primary contexts stay retained.
 */
#ifndef KMM__RESOURCE_DRIVER_H
#define KMM__RESOURCE_DRIVER_H

#include "backend/cuda/cuda_driver.h"
#include "resource/resource.h"

enum {
    KMM__MAX_DEVICES = 64,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
    CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    CU_STREAM_CAPTURE_STATUS_NONE = 0,
    CU_MEM_ALLOCATION_TYPE_MANAGED = 2,
    CU_MEM_ATTACH_GLOBAL = 1,
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7
};

typedef struct CUmemPoolHandle_st *CUmemoryPool;

typedef struct CUmemPoolProps {
    int allocType, handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;

/* X(member, CUDA symbol, HIP symbol, parameters) */
#define KMM__DRIVER_CALLS(X)                                                                       \
    X(Init, "cuInit", "hipInit", (unsigned))                                                       \
    X(GetErrorName, "cuGetErrorName", "hipGetErrorName", (CUresult, const char **))                \
    X(DeviceGetCount, "cuDeviceGetCount", "hipGetDeviceCount", (int *))                            \
    X(DeviceGet, "cuDeviceGet", "hipDeviceGet", (CUdevice *, int))                                 \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2", "hipDeviceTotalMem", (size_t *, CUdevice))            \
    X(DeviceCanAccessPeer, "cuDeviceCanAccessPeer", "hipDeviceCanAccessPeer",                      \
      (int *, CUdevice, CUdevice))                                                                 \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", "hipSetDevice", (CUcontext *, CUdevice)) \
    X(CtxPushCurrent, "cuCtxPushCurrent_v2", "hipSetDevice", (CUcontext))                          \
    X(CtxPopCurrent, "cuCtxPopCurrent_v2", "hipSetDevice", (CUcontext *))                          \
    X(CtxGetCurrent, "cuCtxGetCurrent", "hipGetDevice", (CUcontext *))                             \
    X(CtxGetDevice, "cuCtxGetDevice", "hipGetDevice", (CUdevice *))                                \
    X(CtxSynchronize, "cuCtxSynchronize", "hipDeviceSynchronize", (void))                          \
    X(CtxEnablePeerAccess, "cuCtxEnablePeerAccess", "hipDeviceEnablePeerAccess",                   \
      (CUcontext, unsigned))                                                                       \
    X(MemGetInfo, "cuMemGetInfo_v2", "hipMemGetInfo", (size_t *, size_t *))                        \
    X(MemAlloc, "cuMemAlloc_v2", "hipMalloc", (CUdeviceptr *, size_t))                             \
    X(MemFree, "cuMemFree_v2", "hipFree", (CUdeviceptr))                                           \
    X(MemAllocManaged, "cuMemAllocManaged", "hipMallocManaged", (CUdeviceptr *, size_t, unsigned)) \
    X(MemHostAlloc, "cuMemHostAlloc", "hipHostMalloc", (void **, size_t, unsigned))                \
    X(MemFreeHost, "cuMemFreeHost", "hipHostFree", (void *))                                       \
    X(MemPoolCreate, "cuMemPoolCreate", "hipMemPoolCreate",                                        \
      (CUmemoryPool *, const CUmemPoolProps *))                                                    \
    X(MemPoolDestroy, "cuMemPoolDestroy", "hipMemPoolDestroy", (CUmemoryPool))                     \
    X(MemPoolSetAttribute, "cuMemPoolSetAttribute", "hipMemPoolSetAttribute",                      \
      (CUmemoryPool, int, void *))                                                                 \
    X(MemPoolGetAttribute, "cuMemPoolGetAttribute", "hipMemPoolGetAttribute",                      \
      (CUmemoryPool, int, void *))                                                                 \
    X(MemPoolSetAccess, "cuMemPoolSetAccess", "hipMemPoolSetAccess",                               \
      (CUmemoryPool, const CUmemAccessDesc *, size_t))                                             \
    X(MemPoolTrimTo, "cuMemPoolTrimTo", "hipMemPoolTrimTo", (CUmemoryPool, size_t))                \
    X(MemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", "hipMallocFromPoolAsync",                  \
      (CUdeviceptr *, size_t, CUmemoryPool, CUstream))                                             \
    X(MemFreeAsync, "cuMemFreeAsync", "hipFreeAsync", (CUdeviceptr, CUstream))                     \
    X(MemPrefetchAsync, "cuMemPrefetchAsync_v2", "hipMemPrefetchAsync",                            \
      (CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream))                                    \
    X(StreamCreate, "cuStreamCreate", "hipStreamCreateWithFlags", (CUstream *, unsigned))          \
    X(StreamDestroy, "cuStreamDestroy_v2", "hipStreamDestroy", (CUstream))                         \
    X(StreamSynchronize, "cuStreamSynchronize", "hipStreamSynchronize", (CUstream))                \
    X(StreamIsCapturing, "cuStreamIsCapturing", "hipStreamIsCapturing", (CUstream, int *))         \
    X(ThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode",                        \
      "hipThreadExchangeStreamCaptureMode", (int *))                                               \
    X(StreamWaitEvent, "cuStreamWaitEvent", "hipStreamWaitEvent", (CUstream, CUevent, unsigned))   \
    X(EventCreate, "cuEventCreate", "hipEventCreateWithFlags", (CUevent *, unsigned))              \
    X(EventDestroy, "cuEventDestroy_v2", "hipEventDestroy", (CUevent))                             \
    X(EventRecord, "cuEventRecord", "hipEventRecord", (CUevent, CUstream))                         \
    X(EventQuery, "cuEventQuery", "hipEventQuery", (CUevent))                                      \
    X(EventSynchronize, "cuEventSynchronize", "hipEventSynchronize", (CUevent))                    \
    X(MemcpyAsync, "cuMemcpyAsync", "hipMemcpyAsync",                                              \
      (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                                \
    X(MemsetD8Async, "cuMemsetD8Async", "hipMemsetD8Async",                                        \
      (CUdeviceptr, unsigned char, size_t, CUstream))

/* Calls for mapping memory into address space. They are used only if the driver has all of them. */
#define KMM__DRIVER_MAP_CALLS(X)                                                                   \
    X(MemGetAllocationGranularity, "cuMemGetAllocationGranularity",                                \
      "hipMemGetAllocationGranularity", (size_t *, const CUmemAllocationProp *, int))              \
    X(MemAddressReserve, "cuMemAddressReserve", "hipMemAddressReserve",                            \
      (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long))                            \
    X(MemAddressFree, "cuMemAddressFree", "hipMemAddressFree", (CUdeviceptr, size_t))              \
    X(MemCreate, "cuMemCreate", "hipMemCreate",                                                    \
      (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long))   \
    X(MemRelease, "cuMemRelease", "hipMemRelease", (CUmemGenericAllocationHandle))                 \
    X(MemMap, "cuMemMap", "hipMemMap",                                                             \
      (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long))             \
    X(MemUnmap, "cuMemUnmap", "hipMemUnmap", (CUdeviceptr, size_t))                                \
    X(MemSetAccess, "cuMemSetAccess", "hipMemSetAccess",                                           \
      (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t))

typedef struct kmm__driver {
#define KMM_X(member, cuda, hip, parameters) CUresult(*member) parameters;
    KMM__DRIVER_CALLS(KMM_X)
    KMM__DRIVER_MAP_CALLS(KMM_X)
#undef KMM_X
    int devices;
    bool is_hip;
    bool maps; /* the driver has the calls for mapping; a device may still lack support */
} kmm__driver_t;

/* The driver, or NULL with the thread's error text set. */
const kmm__driver_t *kmm__driver(void);

/* Makes the device's primary context current for this thread until `leave`. Calls nest. Driver
 * calls made meanwhile are kept out of any stream capture by the program, in this thread or
 * another. */
int kmm__driver_enter(int device);
void kmm__driver_leave(void);

/* Returns 0 for success, else the negative error with the text set: "cuMemAlloc on device 0:
 * CUDA_ERROR_OUT_OF_MEMORY". `call` is CUDA's name without a version suffix. */
int kmm__driver_check(CUresult result, const char *call, int device);

/* Returns 0 if `device` can access memory of `owner`, another device; else an error with the
 * text set. Creates no context. */
int kmm__driver_can_reach(int device, int owner);
/* Lets `device` access memory of `owner`, except mapped memory and memory of the driver's pools. */
int kmm__driver_open_to(int device, int owner);

/* Returns KMM_E_STATE with the text set if the stream is being captured into a graph, else 0.
 * Captured work does not run now, so no event can tell when it has finished. */
int kmm__driver_check_capture(kmm_stream_t stream);

/* Event functions for the device's streams. The result is static. */
const kmm_stream_order_t *kmm__driver_order(int device);

/* Creates the pool that a framework gets if the program has set no resource. It uses mapped
 * memory if the device supports it, else `plain`, the device's own resource. */
int kmm__framework_pool_create(kmm_resource_t *plain, kmm_resource_t **out);

/* Waits for all work of a device. */
int kmm__driver_settle(int device);

/* If this thread has no current context, makes the device's current and leaves it so, as an
 * allocation by the CUDA runtime would. */
void kmm__driver_settle_in(int device);

/* The device of this thread's current context; -1: none. With HIP every thread has a current
 * device. */
int kmm__driver_current_device(void);

#endif
