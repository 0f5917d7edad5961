/* SPDX-License-Identifier: Apache-2.0 */
/* The part of CUDA's driver interface that libkmm uses, declared here so that the build needs no
 * CUDA toolkit. Names without prefix are the driver's. Numbers are its ABI. */
#ifndef KMM__BACKEND_CUDA_CUDA_DRIVER_H
#define KMM__BACKEND_CUDA_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef uint64_t CUmemGenericAllocationHandle;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;
typedef struct CUlib_st *CUlibrary;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS =
        700, /* 700 to 719: a kernel broke a rule, and the context is lost */
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_LAUNCH_FAILED = 719,

    CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID = 134,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 141,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_MEMHOSTREGISTER_PORTABLE = 1,
    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_LOCATION_TYPE_DEVICE = 1,
    CU_MEM_LOCATION_TYPE_HOST_NUMA = 3,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

typedef struct CUmemLocation {
    int type, id;
} CUmemLocation;

typedef struct CUmemAllocationProp {
    int type, requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;

typedef struct CUmemAccessDesc {
    CUmemLocation location;
    int flags;
} CUmemAccessDesc;

typedef struct CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct CUDA_MEMCPY3D_PEER {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    CUcontext srcContext;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    CUcontext dstContext;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER;

/* X(member, symbol, parameters): calls that only CUDA has. backend/gpu/driver.h has those that HIP
 * has, too. */
#define KMM__CUDA_CALLS(X)                                                                         \
    X(GetErrorName, "cuGetErrorName", (CUresult, const char **))                                   \
    X(GetErrorString, "cuGetErrorString", (CUresult, const char **))                               \
    X(DeviceGet, "cuDeviceGet", (CUdevice *, int))                                                 \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice))                          \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                 \
    X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                         \
    X(CtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                          \
    X(CtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                          \
    X(CtxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                             \
    X(CtxGetDevice, "cuCtxGetDevice", (CUdevice *))                                                \
    X(CtxEnablePeerAccess, "cuCtxEnablePeerAccess", (CUcontext, unsigned))                         \
    X(Memcpy2DAsync, "cuMemcpy2DAsync_v2", (const CUDA_MEMCPY2D *, CUstream))                      \
    X(MemcpyPeerAsync, "cuMemcpyPeerAsync",                                                        \
      (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))                          \
    X(Memcpy3DPeerAsync, "cuMemcpy3DPeerAsync", (const CUDA_MEMCPY3D_PEER *, CUstream))            \
    X(KernelGetFunction, "cuKernelGetFunction", (CUfunction *, CUkernel))                          \
    X(KernelSetAttribute, "cuKernelSetAttribute", (int, int, CUkernel, CUdevice))                  \
    X(StreamIsCapturing, "cuStreamIsCapturing", (CUstream, int *))                                 \
    X(LibraryLoadData, "cuLibraryLoadData",                                                        \
      (CUlibrary *, const void *, void *, void *, unsigned, void *, void *, unsigned))             \
    X(LibraryGetKernel, "cuLibraryGetKernel", (CUkernel *, CUlibrary, const char *))               \
    X(LaunchKernel, "cuLaunchKernel",                                                              \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
       void **, void **))

typedef struct kmm__cuda_driver {
#define KMM_X(member, symbol, parameters) CUresult(*member) parameters;
    KMM__CUDA_CALLS(KMM_X)
#undef KMM_X
} kmm__cuda_driver_t;

#endif
