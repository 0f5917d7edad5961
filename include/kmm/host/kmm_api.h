/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA runtime's calls that programs for the CPU have; a call that is not here is a compiler's error of its name. */
#ifndef KMM_HOST_API_H
#define KMM_HOST_API_H

#include <new>

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorPeerAccessNotEnabled = 705,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999,
};
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

typedef struct CUevent_st *cudaEvent_t;
typedef void (*cudaHostFn_t)(void *);

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4 };
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2 };
enum { cudaCpuDeviceId = -1 };
#define cudaStreamLegacy ((cudaStream_t)0)
#define cudaStreamPerThread ((cudaStream_t)2)
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3, cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7, cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10, cudaDevAttrMaxPitch = 11, cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13, cudaDevAttrGpuOverlap = 15, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrIntegrated = 18, cudaDevAttrPciBusId = 33, cudaDevAttrPciDeviceId = 34, cudaDevAttrPciDomainId = 50,
    cudaDevAttrCanMapHostMemory = 19, cudaDevAttrComputeMode = 20, cudaDevAttrConcurrentKernels = 31, cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37, cudaDevAttrL2CacheSize = 38, cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40, cudaDevAttrUnifiedAddressing = 41, cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82, cudaDevAttrManagedMemory = 83, cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrMemoryPoolsSupported = 115
};
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, reservedSharedMemPerBlock, sharedMemPerMultiprocessor;
    size_t totalConstMem, memPitch, textureAlignment, texturePitchAlignment, surfaceAlignment;
    int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
    int clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, accessPolicyMaxWindowSize;
    int integrated, canMapHostMemory, concurrentKernels, asyncEngineCount, unifiedAddressing, managedMemory, deviceOverlap;
    int concurrentManagedAccess, pageableMemoryAccess, cooperativeLaunch, computeMode, kernelExecTimeoutEnabled, ECCEnabled, tccDriver;
    int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported, isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported, memoryPoolsSupported, pciBusID, pciDeviceID, pciDomainID;
    int maxTexture1D, maxTexture2D[2], maxTexture3D[3];
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, maxDynamicSharedSizeBytes;
};

/* ---- Errors ---- */
static inline cudaError_t cudaGetLastError() { return (cudaError_t)kmm_cuda_get_last_error(); }
static inline cudaError_t cudaPeekAtLastError() { return (cudaError_t)kmm_cuda_peek_at_last_error(); }
static inline const char *cudaGetErrorName(cudaError_t e) { return kmm_cuda_get_error_name(e); }
static inline const char *cudaGetErrorString(cudaError_t e) { return kmm_cuda_get_error_string(e); }

/* ---- Memory ---- */
template <class T> static inline cudaError_t cudaMalloc(T **out, size_t bytes)
{
    void *base = nullptr;
    int error = kmm_cuda_malloc(out ? &base : nullptr, bytes);
    if (out)
        *out = static_cast<T *>(base);
    return (cudaError_t)error;
}
template <class T> static inline cudaError_t cudaMallocAsync(T **out, size_t bytes, cudaStream_t) { return cudaMalloc(out, bytes); }
template <class T> static inline cudaError_t cudaMallocPitch(T **out, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(out, *pitch * height);
}
static inline cudaError_t cudaFree(void *p);
static inline cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return cudaFree(p); }
static inline cudaError_t cudaMemcpy(void *dst, const void *src, size_t n, enum cudaMemcpyKind k) { return (cudaError_t)kmm_cuda_memcpy(dst, src, n, k); }
static inline cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t n, enum cudaMemcpyKind k, cudaStream_t s = 0)
{
    return (cudaError_t)kmm_cuda_memcpy_async(dst, src, n, k, s);
}
static inline cudaError_t cudaMemcpy2D(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, enum cudaMemcpyKind k)
{
    return (cudaError_t)kmm_cuda_memcpy_2d(dst, dp, src, sp, w, h, k);
}
static inline cudaError_t cudaMemcpy2DAsync(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, enum cudaMemcpyKind k, cudaStream_t = 0)
{
    return (cudaError_t)kmm_cuda_memcpy_2d(dst, dp, src, sp, w, h, k);
}
/* Memory that both sides use: the host's own. Launches then wait for each other. */
inline bool &kmm_host_has_common_memory();
static inline cudaError_t cudaMemset(void *p, int v, size_t n)
{
    if (n == 0 || kmm_cuda_is_managed(p))
        return (cudaError_t)kmm_cuda_memset(p, v, n);
    if (!p)
        return cudaErrorInvalidValue;
    int error = kmm_cuda_device_synchronize();
    memset(p, v, n);
    return (cudaError_t)error;
}
static inline cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t = 0) { return cudaMemset(p, v, n); }
static inline cudaError_t cudaMemset2D(void *p, size_t pitch, int v, size_t w, size_t h)
{
    cudaError_t e = cudaSuccess;
    for (size_t row = 0; row < h && !e; row++)
        e = cudaMemset((char *)p + row * pitch, v, w);
    return e;
}

template <class T> static inline cudaError_t cudaMallocHost(T **out, size_t bytes, unsigned = 0)
{
    void *base = nullptr;
    int error = kmm_cuda_malloc_common(out ? &base : nullptr, bytes);
    if (out)
        *out = static_cast<T *>(base);
    return (cudaError_t)error;
}
template <class T> static inline cudaError_t cudaHostAlloc(T **out, size_t bytes, unsigned flags)
{
#ifndef KMM_HOST_PARSE
    if (flags & cudaHostAllocMapped)
        kmm_host_has_common_memory() = true;
#endif
    return cudaMallocHost(out, bytes, flags);
}
template <class T> static inline cudaError_t cudaMallocManaged(T **out, size_t bytes, unsigned = cudaMemAttachGlobal)
{
#ifndef KMM_HOST_PARSE
    kmm_host_has_common_memory() = true;
#endif
    return cudaMallocHost(out, bytes);
}
static inline cudaError_t cudaFreeHost(void *p)
{
    return (cudaError_t)kmm_cuda_free_common(p);
}
static inline cudaError_t cudaFree(void *p)
{
    return !p || kmm_cuda_is_managed(p) ? (cudaError_t)kmm_cuda_free(p)
#ifndef KMM_HOST_PARSE
           : kmm_host_has_common_memory() ? cudaFreeHost(p)
#endif
           : (cudaError_t)kmm_cuda_free(p);
}
template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **out, void *host, unsigned)
{
    *out = static_cast<T *>(host);
    return cudaSuccess;
}
enum { cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaHostRegisterIoMemory = 4, cudaHostRegisterReadOnly = 8 };
static inline cudaError_t cudaHostRegister(void *, size_t, unsigned flags = 0)
{
#ifndef KMM_HOST_PARSE
    if (flags & cudaHostRegisterMapped)
        kmm_host_has_common_memory() = true;
#endif
    (void)flags;
    return cudaSuccess;
}
static inline cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
static inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0) { return cudaSuccess; }

template <class T> static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t bytes, size_t offset = 0, enum cudaMemcpyKind = cudaMemcpyHostToDevice)
{
    if (offset > sizeof(T) || bytes > sizeof(T) - offset)
        return cudaErrorInvalidValue;
    return (cudaError_t)kmm_cuda_symbol_write(&symbol, (char *)(void *)&symbol + offset, src, bytes);
}
template <class T> static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t bytes, size_t offset = 0, enum cudaMemcpyKind k = cudaMemcpyHostToDevice, cudaStream_t = 0)
{
    return cudaMemcpyToSymbol(symbol, src, bytes, offset, k);
}
template <class T> static inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t bytes, size_t offset = 0, enum cudaMemcpyKind = cudaMemcpyDeviceToHost)
{
    if (offset > sizeof(T) || bytes > sizeof(T) - offset)
        return cudaErrorInvalidValue;
    return (cudaError_t)kmm_cuda_symbol_read(dst, &symbol, (const char *)&symbol + offset, bytes);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **out, const T &symbol)
{
    return (cudaError_t)kmm_cuda_symbol_address(out, &symbol);
}

/* ---- Streams and events ---- */
static inline cudaError_t cudaStreamCreate(cudaStream_t *out) { return (cudaError_t)kmm_cuda_stream_create((void **)out); }
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned) { return cudaStreamCreate(out); }
static inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned, int) { return cudaStreamCreate(out); }
static inline cudaError_t cudaStreamDestroy(cudaStream_t s) { return (cudaError_t)kmm_cuda_stream_destroy(s); }
static inline cudaError_t cudaStreamSynchronize(cudaStream_t s) { return (cudaError_t)kmm_cuda_stream_synchronize(s); }
static inline cudaError_t cudaStreamQuery(cudaStream_t s) { return (cudaError_t)kmm_cuda_stream_query(s); }
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned = 0) { return (cudaError_t)kmm_cuda_stream_wait_event(s, e); }
static inline cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *arg)
{
    cudaError_t e = cudaStreamSynchronize(s);
    f(arg);
    return e;
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *out) { return (cudaError_t)kmm_cuda_event_create((void **)out); }
static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    return flags & cudaEventDisableTiming ? (cudaError_t)kmm_cuda_event_create_untimed((void **)out) : cudaEventCreate(out);
}
static inline cudaError_t cudaEventDestroy(cudaEvent_t e) { return (cudaError_t)kmm_cuda_event_destroy(e); }
static inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = 0)
{
    int error = kmm_cuda_same_device(e, s, "cudaEventRecord: an event");
    return (cudaError_t)(error ? error : kmm_cuda_event_record(e, s));
}
static inline cudaError_t cudaEventSynchronize(cudaEvent_t e) { return (cudaError_t)kmm_cuda_event_synchronize(e); }
static inline cudaError_t cudaEventQuery(cudaEvent_t e) { return (cudaError_t)kmm_cuda_event_query(e); }
static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
    return (cudaError_t)kmm_cuda_event_elapsed_timed(ms, a, b);
}

/* ---- The device ---- */
static inline cudaError_t cudaDeviceSynchronize() { return (cudaError_t)kmm_cuda_device_synchronize(); }
static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaGetDeviceCount(int *n) { return (cudaError_t)kmm_cuda_device_count(n); }
static inline cudaError_t cudaGetDevice(int *d) { *d = kmm_cuda_device_current(); return cudaSuccess; }
static inline cudaError_t cudaSetDevice(int d) { return (cudaError_t)kmm_cuda_device_set(d); }
static inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
static inline cudaError_t cudaDriverGetVersion(int *v) { *v = CUDART_VERSION; return cudaSuccess; }
static inline cudaError_t cudaRuntimeGetVersion(int *v) { *v = CUDART_VERSION; return cudaSuccess; }
static inline cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    kmm_cuda_device_info_t own;
    int error = kmm_cuda_device_info(kmm_cuda_device_current(), &own);
    const bool is_pretend = own.memory_bytes > 0;
    *total = is_pretend ? own.memory_bytes : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *free_bytes = is_pretend ? own.free_bytes : (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return (cudaError_t)error;
}
static inline cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    kmm_cuda_device_info_t own;
    int error = kmm_cuda_device_info(device, &own);
    if (error)
        return (cudaError_t)error;
    const bool is_pretend = own.memory_bytes > 0;
    memset(p, 0, sizeof(*p));
    snprintf(p->name, sizeof(p->name), "CPU (kmm)%s%s", *own.name ? ", " : "", own.name);
    p->totalGlobalMem = is_pretend ? own.memory_bytes : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    p->pciBusID = device;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = 227 << 10;
    p->sharedMemPerMultiprocessor = 228 << 10;
    p->totalConstMem = 64 << 10;
    p->memPitch = 0x7fffffff;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->maxBlocksPerMultiProcessor = 1;
    p->warpSize = 32;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = p->maxThreadsPerMultiProcessor = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->multiProcessorCount = (int)sysconf(_SC_NPROCESSORS_ONLN);
    p->clockRate = p->memoryClockRate = 1000000;
    p->memoryBusWidth = 64;
    p->integrated = !is_pretend;
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = 1;
    p->hostNativeAtomicSupported = 1;
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr what, int device)
{
    struct cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (e)
        return e;
    switch (what) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; return cudaSuccess;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; return cudaSuccess;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; return cudaSuccess;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; return cudaSuccess;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; return cudaSuccess;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; return cudaSuccess;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerMultiprocessor; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; return cudaSuccess;
    case cudaDevAttrTotalConstantMemory: *value = (int)p.totalConstMem; return cudaSuccess;
    case cudaDevAttrWarpSize: *value = p.warpSize; return cudaSuccess;
    case cudaDevAttrMaxPitch: *value = (int)p.memPitch; return cudaSuccess;
    case cudaDevAttrMaxRegistersPerBlock: case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerBlock; return cudaSuccess;
    case cudaDevAttrClockRate: *value = p.clockRate; return cudaSuccess;
    case cudaDevAttrMemoryClockRate: *value = p.memoryClockRate; return cudaSuccess;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; return cudaSuccess;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; return cudaSuccess;
    case cudaDevAttrIntegrated: *value = p.integrated; return cudaSuccess;
    case cudaDevAttrPciBusId: *value = p.pciBusID; return cudaSuccess;
    case cudaDevAttrCanMapHostMemory: case cudaDevAttrConcurrentKernels: case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
        *value = 1;
        return cudaSuccess;
    case cudaDevAttrPciDeviceId: case cudaDevAttrPciDomainId: case cudaDevAttrGpuOverlap: case cudaDevAttrComputeMode: case cudaDevAttrL2CacheSize: case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrComputeCapabilityMajor: case cudaDevAttrComputeCapabilityMinor: case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch: case cudaDevAttrMemoryPoolsSupported:
        *value = 0;
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}
template <class F> static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, F)
{
    memset(a, 0, sizeof(*a));
    a->maxThreadsPerBlock = 1024;
    a->maxDynamicSharedSizeBytes = 48 << 10;
    return cudaSuccess;
}
/* What one kernel is allowed all are. */
template <class F> static inline cudaError_t cudaFuncSetAttribute(F, enum cudaFuncAttribute what, int value)
{
#ifndef KMM_HOST_PARSE
    if (what == cudaFuncAttributeMaxDynamicSharedMemorySize && (value < 0 || value > KMM_HOST_DYNAMIC_MOST))
        return cudaErrorInvalidValue;
    if (what == cudaFuncAttributeMaxDynamicSharedMemorySize && (size_t)value > kmm_host_dynamic())
        kmm_host_dynamic() = (size_t)value;
#endif
    (void)what;
    (void)value;
    return cudaSuccess;
}
template <class F> static inline cudaError_t cudaFuncSetCacheConfig(F, enum cudaFuncCache) { return cudaSuccess; }

/* ---- What is missing, by name ---- */
#define KMM_HOST_MISSING(what) __attribute__((unavailable("kmm: " what " on the CPU target")))
#define KMM_HOST_LACKS(name, what) template <class... A> cudaError_t name(A...) KMM_HOST_MISSING(what);
#define KMM_HOST_LACKS_TYPE(name, what) typedef struct kmm_missing_##name *name KMM_HOST_MISSING(what);
KMM_HOST_LACKS(cudaLaunchCooperativeKernel, "kernels whose blocks wait for each other are missing")
KMM_HOST_LACKS_TYPE(cudaGraph_t, "CUDA graphs are missing") KMM_HOST_LACKS_TYPE(cudaGraphExec_t, "CUDA graphs are missing")
KMM_HOST_LACKS_TYPE(cudaGraphNode_t, "CUDA graphs are missing")
KMM_HOST_LACKS(cudaGraphCreate, "CUDA graphs are missing") KMM_HOST_LACKS(cudaStreamBeginCapture, "CUDA graphs are missing")
KMM_HOST_LACKS(cudaGraphLaunch, "CUDA graphs are missing")
KMM_HOST_LACKS_TYPE(cudaTextureObject_t, "textures are missing") KMM_HOST_LACKS_TYPE(cudaSurfaceObject_t, "surfaces are missing")
KMM_HOST_LACKS_TYPE(cudaArray_t, "arrays and textures are missing")
KMM_HOST_LACKS(cudaMallocArray, "arrays and textures are missing") KMM_HOST_LACKS(cudaMalloc3DArray, "arrays and textures are missing")
KMM_HOST_LACKS(cudaCreateTextureObject, "textures are missing") KMM_HOST_LACKS(cudaBindTexture, "textures are missing")
KMM_HOST_LACKS(cudaIpcGetMemHandle, "sharing memory with other processes is missing")
KMM_HOST_LACKS(cudaIpcOpenMemHandle, "sharing memory with other processes is missing")
#undef KMM_HOST_LACKS
#undef KMM_HOST_LACKS_TYPE
#undef KMM_HOST_MISSING

#endif
