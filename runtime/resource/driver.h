/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of CUDA's driver that resources need, beside those of the backend: allocation rather than
 * mapping. The library is opened at first use and stays; so do the primary contexts of the devices.
 */
#ifndef KMM__RESOURCE_DRIVER_H
#define KMM__RESOURCE_DRIVER_H

#include "../backend/cuda_driver.h"
#include "internal.h"

enum {
    KMM__MAX_DEVICES = 64,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_NOT_SUPPORTED = 801,
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

/* X(member, symbol, parameters) */
#define KMM__DRIVER_CALLS(X)                                                                       \
    X(Init, "cuInit", (unsigned))                                                                  \
    X(GetErrorName, "cuGetErrorName", (CUresult, const char **))                                   \
    X(DeviceGetCount, "cuDeviceGetCount", (int *))                                                 \
    X(DeviceGet, "cuDeviceGet", (CUdevice *, int))                                                 \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, CUdevice))                                 \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                 \
    X(CtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                          \
    X(CtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                          \
    X(CtxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                             \
    X(CtxGetDevice, "cuCtxGetDevice", (CUdevice *))                                                \
    X(MemGetInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                                         \
    X(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                          \
    X(MemFree, "cuMemFree_v2", (CUdeviceptr))                                                      \
    X(MemAllocManaged, "cuMemAllocManaged", (CUdeviceptr *, size_t, unsigned))                     \
    X(MemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                 \
    X(MemFreeHost, "cuMemFreeHost", (void *))                                                      \
    X(MemPoolCreate, "cuMemPoolCreate", (CUmemoryPool *, const CUmemPoolProps *))                  \
    X(MemPoolDestroy, "cuMemPoolDestroy", (CUmemoryPool))                                          \
    X(MemPoolSetAttribute, "cuMemPoolSetAttribute", (CUmemoryPool, int, void *))                   \
    X(MemPoolGetAttribute, "cuMemPoolGetAttribute", (CUmemoryPool, int, void *))                   \
    X(MemPoolTrimTo, "cuMemPoolTrimTo", (CUmemoryPool, size_t))                                    \
    X(MemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", (CUdeviceptr *, size_t, CUmemoryPool, CUstream)) \
    X(MemFreeAsync, "cuMemFreeAsync", (CUdeviceptr, CUstream))                                     \
    X(MemPrefetchAsync, "cuMemPrefetchAsync_v2", (CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream)) \
    X(StreamCreate, "cuStreamCreate", (CUstream *, unsigned))                                      \
    X(StreamDestroy, "cuStreamDestroy_v2", (CUstream))                                             \
    X(StreamSynchronize, "cuStreamSynchronize", (CUstream))                                        \
    X(StreamWaitEvent, "cuStreamWaitEvent", (CUstream, CUevent, unsigned))                         \
    X(EventCreate, "cuEventCreate", (CUevent *, unsigned))                                         \
    X(EventDestroy, "cuEventDestroy_v2", (CUevent))                                                \
    X(EventRecord, "cuEventRecord", (CUevent, CUstream))                                           \
    X(EventQuery, "cuEventQuery", (CUevent))                                                       \
    X(EventSynchronize, "cuEventSynchronize", (CUevent))                                           \
    X(MemcpyAsync, "cuMemcpyAsync", (CUdeviceptr, CUdeviceptr, size_t, CUstream))                  \
    X(MemsetD8Async, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))

typedef struct kmm__driver {
#define KMM_X(member, symbol, parameters) CUresult(*member) parameters;
    KMM__DRIVER_CALLS(KMM_X)
#undef KMM_X
    int devices;
} kmm__driver_t;

/* The driver, or NULL with the thread's error text set. */
const kmm__driver_t *kmm__driver(void);

/* Makes the device's primary context current for this thread until `leave`. Calls nest. */
int kmm__driver_enter(int device);
void kmm__driver_leave(void);

/* 0 for success, else the negative error with the text set: "cuMemAlloc on device 0: CUDA_ERROR_OUT_OF_MEMORY". */
int kmm__driver_check(CUresult result, const char *call, int device);

/* Events of a device's streams; static. */
const kmm_stream_order_t *kmm__driver_order(int device);

/* The device of this thread's current context; -1: none. */
int kmm__driver_current_device(void);

#endif
