/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of a GPU's driver that resources need, beside those of the backend: allocation rather
 * than mapping. The driver is CUDA's where that finds a device, else AMD's HIP runtime, whose calls
 * have the same arguments but for a few that driver.c adapts. The library is opened at first use
 * and stays; so do the primary contexts of the devices. Names are CUDA's here; errors and names in
 * texts are the driver's.
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

/* The same for mapping memory into address space. A driver has all of them, or none counts. */
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
    bool maps; /* has the calls for mapping; whether a device can is another question */
} kmm__driver_t;

/* The driver, or NULL with the thread's error text set. */
const kmm__driver_t *kmm__driver(void);

/* Makes the device's primary context current for this thread until `leave`. Calls nest. What is
 * called meanwhile spoils no graph that the program captures, in this thread or another, since it
 * has nothing to do with that. */
int kmm__driver_enter(int device);
void kmm__driver_leave(void);

/* 0 for success, else the negative error with the text set: "cuMemAlloc on device 0:
 * CUDA_ERROR_OUT_OF_MEMORY". `call` is CUDA's name, without a version. */
int kmm__driver_check(CUresult result, const char *call, int device);

/* 0 when `device` can be let reach memory of `owner`, which is another one; else an error with the
 * text set. Makes no context. */
int kmm__driver_can_reach(int device, int owner);
/* Lets `device` reach all memory of `owner` that is not mapped and is in no pool of the driver. */
int kmm__driver_open_to(int device, int owner);

/* 0, or KMM_E_STATE with the text set: the stream's work goes into a graph and is not done now, so
 * that no event says when it is. */
int kmm__driver_check_capture(kmm_stream_t stream);

/* Events of a device's streams; static. */
const kmm_stream_order_t *kmm__driver_order(int device);

/* What a framework gets where the program has set no resource: a pool on mapped memory where that
 * will do, else on `plain`, the device's own. */
int kmm__framework_pool_create(kmm_resource_t *plain, kmm_resource_t **out);

/* Makes the device's context current for good where this thread has none, as a runtime's own
 * allocation would. */
void kmm__driver_settle_in(int device);

/* The device of this thread's current context; -1: none. With HIP every thread has a current
 * device. */
int kmm__driver_current_device(void);

#endif
