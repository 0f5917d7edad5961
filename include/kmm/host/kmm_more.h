/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the CUDA runtime that are built from other calls, or that have little to do on a CPU. */
#ifndef KMM_HOST_MORE_H
#define KMM_HOST_MORE_H

/* ---- Boxes of memory ---- */
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct cudaArray;
struct cudaMemcpy3DParms {
    cudaArray *srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray *dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};
static inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d)
{
    return cudaExtent{w, h, d};
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return cudaPos{x, y, z}; }
static inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y)
{
    return cudaPitchedPtr{p, pitch, x, y};
}

static inline cudaError_t cudaMalloc3D(cudaPitchedPtr *out, cudaExtent e)
{
    char *base = nullptr;
    size_t pitch = 0;
    cudaError_t error = cudaMallocPitch(&base, &pitch, e.width, e.height * e.depth);
    *out = cudaPitchedPtr{base, pitch, e.width, e.height};
    return error;
}
/* Offsets and widths are bytes: the CPU target has no CUDA arrays. */
static inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p)
{
    const cudaExtent e = p->extent;
    if (p->srcArray || p->dstArray || p->srcPtr.pitch < p->srcPos.x + e.width ||
        p->dstPtr.pitch < p->dstPos.x + e.width)
        return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < e.depth && e.width && e.height && !error; z++) {
        const size_t from =
            ((p->srcPos.z + z) * p->srcPtr.ysize + p->srcPos.y) * p->srcPtr.pitch + p->srcPos.x;
        const size_t to =
            ((p->dstPos.z + z) * p->dstPtr.ysize + p->dstPos.y) * p->dstPtr.pitch + p->dstPos.x;
        error = cudaMemcpy2D((char *)p->dstPtr.ptr + to, p->dstPtr.pitch,
                             (const char *)p->srcPtr.ptr + from, p->srcPtr.pitch, e.width, e.height,
                             p->kind);
    }
    return error;
}
static inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t s = 0)
{
    cudaError_t error = cudaStreamSynchronize(s);
    return error ? error : cudaMemcpy3D(p);
}
static inline cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int v, size_t w, size_t h,
                                            cudaStream_t s = 0)
{
    cudaError_t error = cudaStreamSynchronize(s);
    return error ? error : cudaMemset2D(p, pitch, v, w, h);
}
static inline cudaError_t cudaMemset3D(cudaPitchedPtr p, int v, cudaExtent e)
{
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < e.depth && !error; z++)
        error = cudaMemset2D((char *)p.ptr + z * p.ysize * p.pitch, p.pitch, v, e.width, e.height);
    return error;
}
static inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int v, cudaExtent e,
                                            cudaStream_t s = 0)
{
    cudaError_t error = cudaStreamSynchronize(s);
    return error ? error : cudaMemset3D(p, v, e);
}

/* ---- Symbols and pointers ---- */
template <class kmm_T>
static inline cudaError_t
cudaMemcpyFromSymbolAsync(void *dst, const kmm_T &symbol, size_t bytes, size_t offset = 0,
                          enum cudaMemcpyKind k = cudaMemcpyDeviceToHost, cudaStream_t s = 0)
{
    cudaError_t error = cudaStreamSynchronize(s);
    return error ? error : cudaMemcpyFromSymbol(dst, symbol, bytes, offset, k);
}
template <class kmm_T> static inline cudaError_t cudaGetSymbolSize(size_t *out, const kmm_T &)
{
    *out = sizeof(kmm_T);
    return cudaSuccess;
}
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
static inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p)
{
    const bool is_device = kmm_cuda_is_managed(p);
    const int device = is_device ? kmm_cuda_pointer_device(p) : kmm_cuda_device_current();
    *a =
        cudaPointerAttributes{is_device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, device,
                              const_cast<void *>(p), is_device ? nullptr : const_cast<void *>(p)};
    return cudaSuccess;
}
static inline cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int)
{
    return cudaSuccess;
}
static inline cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation)
{
    return cudaSuccess;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned,
                                               cudaStream_t = 0)
{
    return cudaSuccess;
}
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t = 0,
                                                   unsigned = cudaMemAttachSingle)
{
    return cudaSuccess;
}
static inline cudaError_t cudaHostGetFlags(unsigned *flags, void *)
{
    *flags = cudaHostAllocDefault;
    return cudaSuccess;
}

/* ---- Occupancy: a core runs one block at a time ---- */
template <class kmm_F>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, kmm_F kernel,
                                                                        int threads, size_t shared)
{
    struct kmm_host_asked own;
    const cudaError_t error = kmm_host_ask(&own, kernel);
    if (error || threads < 1)
        return error ? error : cudaErrorInvalidValue;
    *blocks = (unsigned)threads <= own.bound && shared <= *own.dynamic;
    return cudaSuccess;
}
template <class kmm_F>
static inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, kmm_F f, int threads,
                                                       size_t shared, unsigned)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}
/* Suggests a block size: 256 threads if the kernel's bound and `limit` (0: none) allow it. `shared`
 * returns the dynamic shared memory for a block size. */
template <class kmm_F, class kmm_S>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *threads,
                                                                         kmm_F kernel, kmm_S shared,
                                                                         int limit = 0)
{
    struct kmm_host_asked own;
    const cudaError_t error = kmm_host_ask(&own, kernel);
    if (error)
        return error;
    int most = limit > 0 && limit < 256 ? limit : 256;
    most = (unsigned)most > own.bound ? (int)own.bound : most;
    while (most > 32 && (size_t)shared(most) > *own.dynamic)
        most -= most % 32 ? most % 32 : 32;
    if ((size_t)shared(most) > *own.dynamic)
        most = 0;
    *threads = most;
    *grid = most ? (int)sysconf(_SC_NPROCESSORS_ONLN) : 0;
    return cudaSuccess;
}
template <class kmm_F>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *threads, kmm_F f,
                                                             size_t shared = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, threads, f, [shared](int) { return shared; }, limit);
}
template <class kmm_F>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *threads,
                                                                      kmm_F f, size_t shared = 0,
                                                                      int limit = 0, unsigned = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, threads, f, shared, limit);
}
template <class kmm_F, class kmm_S>
static inline cudaError_t
cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *threads, kmm_F f,
                                                        kmm_S shared, int limit = 0, unsigned = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, threads, f, shared, limit);
}
template <class kmm_F>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, kmm_F kernel,
                                                                    int blocks, int threads)
{
    struct kmm_host_asked own;
    const cudaError_t error = kmm_host_ask(&own, kernel);
    if (error || blocks < 1 || threads < 1)
        return error ? error : cudaErrorInvalidValue;
    *bytes = *own.dynamic;
    return cudaSuccess;
}

/* ---- Memory pools: each is the whole memory of its device, and keeps no freed memory ---- */
typedef struct kmm_host_pool {
    unsigned long long threshold;
} *cudaMemPool_t;
struct cudaMemPoolProps {
    enum cudaMemAllocationType allocType;
    enum cudaMemAllocationHandleType handleTypes;
    struct cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
};
struct cudaMemAccessDesc {
    struct cudaMemLocation location;
    enum cudaMemAccessFlags flags;
};
#ifdef KMM_HOST_PARSE
cudaMemPool_t kmm_host_default_pool(int device);
#else
inline cudaMemPool_t kmm_host_default_pool(int device)
{
    static struct kmm_host_pool pools[64];
    return &pools[device & 63];
}
#endif
static inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device)
{
    kmm_cuda_device_info_t info;
    const int error = kmm_cuda_device_info(device, &info);
    if (!error)
        *out = kmm_host_default_pool(device);
    return (cudaError_t)error;
}
static inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device)
{
    return cudaDeviceGetDefaultMemPool(out, device);
}
static inline cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    kmm_cuda_device_info_t info;
    return pool ? (cudaError_t)kmm_cuda_device_info(device, &info) : cudaErrorInvalidValue;
}
static inline cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const cudaMemPoolProps *p)
{
    if (p->allocType != cudaMemAllocationTypePinned ||
        p->location.type != cudaMemLocationTypeDevice)
        return cudaErrorInvalidValue;
    if (p->handleTypes != cudaMemHandleTypeNone)
        return cudaErrorNotSupported;
    *out = new kmm_host_pool();
    return cudaSuccess;
}
static inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    for (int k = 0; k < 64; k++)
        if (pool == kmm_host_default_pool(k))
            return cudaErrorInvalidValue;
    delete pool;
    return cudaSuccess;
}
static inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
static inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what,
                                                  void *value)
{
    if (what == cudaMemPoolAttrReleaseThreshold)
        pool->threshold = *(unsigned long long *)value;
    return cudaSuccess;
}
static inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what,
                                                  void *value)
{
    if (what <= cudaMemPoolReuseAllowInternalDependencies)
        *(int *)value = 1;
    else
        *(unsigned long long *)value =
            what == cudaMemPoolAttrReleaseThreshold ? pool->threshold : 0;
    return cudaSuccess;
}
/* Does nothing: all devices have access to each other's memory. */
static inline cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *, size_t)
{
    return cudaSuccess;
}
static inline cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *out, cudaMemPool_t,
                                               cudaMemLocation *)
{
    *out = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
}
template <class kmm_T>
static inline cudaError_t cudaMallocFromPoolAsync(kmm_T **out, size_t bytes, cudaMemPool_t,
                                                  cudaStream_t s)
{
    return cudaMallocAsync(out, bytes, s);
}
template <class kmm_T>
static inline cudaError_t cudaMallocAsync(kmm_T **out, size_t bytes, cudaMemPool_t, cudaStream_t s)
{
    return cudaMallocAsync(out, bytes, s);
}

/* ---- The device ---- */
static inline cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache) { return cudaSuccess; }
static inline cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *out)
{
    *out = cudaFuncCachePreferNone;
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
static inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *out)
{
    *out = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}
static inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
template <class kmm_F>
static inline cudaError_t cudaFuncSetSharedMemConfig(kmm_F, cudaSharedMemConfig)
{
    return cudaSuccess;
}
/* Does nothing: a kernel uses the program's stack and heap. */
static inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
static inline cudaError_t cudaDeviceGetLimit(size_t *out, cudaLimit what)
{
    *out = what == cudaLimitStackSize ? 256 << 10 : 8 << 20;
    return cudaSuccess;
}
static inline cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    *flags = 0;
    return cudaSuccess;
}
static inline cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *)
{
    *device = 0;
    return cudaSuccess;
}
static inline cudaError_t cudaSetValidDevices(int *, int) { return cudaSuccess; }
static inline cudaError_t cudaInitDevice(int device, unsigned, unsigned)
{
    kmm_cuda_device_info_t info;
    return (cudaError_t)kmm_cuda_device_info(device, &info);
}
static inline cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    kmm_cuda_device_info_t info;
    int error = kmm_cuda_device_info(device, &info);
    if (!error && snprintf(text, (size_t)bytes, "0000:%02x:00.0", (unsigned)device & 0xff) >= bytes)
        return cudaErrorInvalidValue;
    return (cudaError_t)error;
}
static inline cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    char own[16];
    int count = 0;
    kmm_cuda_device_count(&count);
    for (*device = 0; *device < count; ++*device)
        if (!cudaDeviceGetPCIBusId(own, sizeof(own), *device) &&
            (!strcmp(text, own) || !strcmp(text, own + strlen("0000:"))))
            return cudaSuccess;
    return cudaErrorInvalidDevice;
}

/* ---- Several devices: all have access to each other's memory. Only wrong arguments are errors
 * ---- */
static inline cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    kmm_cuda_device_info_t info;
    int error = kmm_cuda_device_info(device, &info);
    if (!error)
        error = kmm_cuda_device_info(peer, &info);
    *can = !error && kmm_cuda_peer_can(device, peer);
    return (cudaError_t)error;
}
static inline cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return flags ? cudaErrorInvalidValue : (cudaError_t)kmm_cuda_peer_set(peer, 1);
}
static inline cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return (cudaError_t)kmm_cuda_peer_set(peer, 0);
}
static inline cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr what, int device,
                                                    int peer)
{
    *value =
        what != cudaDevP2PAttrPerformanceRank && what != cudaDevP2PAttrCudaArrayAccessSupported;
    return kmm_cuda_peer_can(device, peer) ? cudaSuccess : cudaErrorInvalidDevice;
}
static inline cudaError_t cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t bytes)
{
    return (cudaError_t)kmm_cuda_memcpy_peer(dst, to, src, from, bytes);
}
static inline cudaError_t cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from,
                                              size_t bytes, cudaStream_t = 0)
{
    return (cudaError_t)kmm_cuda_memcpy_peer(dst, to, src, from, bytes);
}
struct cudaMemcpy3DPeerParms {
    cudaArray *srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    int srcDevice;
    cudaArray *dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    int dstDevice;
    cudaExtent extent;
};
static inline cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p)
{
    const cudaMemcpy3DParms plain = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                     p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault};
    kmm_cuda_device_info_t info;
    if (kmm_cuda_device_info(p->srcDevice, &info) || kmm_cuda_device_info(p->dstDevice, &info))
        return cudaErrorInvalidDevice;
    return cudaMemcpy3D(&plain);
}
static inline cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t s = 0)
{
    cudaError_t error = cudaStreamSynchronize(s);
    return error ? error : cudaMemcpy3DPeer(p);
}
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

/* ---- Streams and events ---- */
static inline cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return cudaSuccess;
}
static inline cudaError_t cudaStreamGetDevice(cudaStream_t s, int *device)
{
    *device = kmm_cuda_handle_device(s);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamGetPriority(cudaStream_t, int *out)
{
    *out = 0;
    return cudaSuccess;
}
static inline cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *out)
{
    *out = (unsigned long long)(uintptr_t)s;
    return cudaSuccess;
}
static inline cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned *out)
{
    *out = cudaStreamDefault;
    return cudaSuccess;
}
static inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s = 0, unsigned = 0)
{
    return cudaEventRecord(e, s);
}
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
static inline cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *arg,
                                                unsigned)
{
    cudaError_t error = cudaStreamSynchronize(s);
    f(s, error, arg);
    return cudaSuccess;
}

#endif
