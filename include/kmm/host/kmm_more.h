/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the CUDA runtime that are made of others, or have little to say about a CPU. */
#ifndef KMM_HOST_MORE_H
#define KMM_HOST_MORE_H

/* ---- What is missing, by name ---- */
#define KMM_HOST_MISSING(what) __attribute__((unavailable("kmm: " what " on the CPU target")))
#ifdef KMM_HOST_PARSE /* what clang makes of a launch in a kernel, of which kmmcc has more to say */
extern "C" cudaError_t cudaLaunchDevice(void *function, void *parameters, dim3 grid, dim3 block, unsigned shared, cudaStream_t stream);
extern "C" void *cudaGetParameterBuffer(size_t alignment, size_t size);
#endif
#define __cluster_dims__(...) __attribute__((unavailable("kmm: clusters of blocks are missing on the CPU target")))
struct kmm_missing_ipc;
typedef kmm_missing_ipc cudaIpcMemHandle_t KMM_HOST_MISSING("sharing memory with other processes is missing");
typedef kmm_missing_ipc cudaIpcEventHandle_t KMM_HOST_MISSING("sharing events with other processes is missing");
template <class T, class... A> T tex1D(A...) KMM_HOST_MISSING("textures are missing");
template <class T, class... A> T tex1Dfetch(A...) KMM_HOST_MISSING("textures are missing");
template <class T, class... A> T tex2D(A...) KMM_HOST_MISSING("textures are missing");
template <class T, class... A> T tex3D(A...) KMM_HOST_MISSING("textures are missing");
template <class... A> void surf2Dread(A...) KMM_HOST_MISSING("surfaces are missing");
template <class... A> void surf2Dwrite(A...) KMM_HOST_MISSING("surfaces are missing");
template <class T> T __shfl(T, int, int = 32) KMM_HOST_MISSING("shuffles without _sync, which CUDA has no more, are missing");
template <class T> T __shfl_down(T, unsigned, int = 32) KMM_HOST_MISSING("shuffles without _sync, which CUDA has no more, are missing");
template <class T> T __shfl_up(T, unsigned, int = 32) KMM_HOST_MISSING("shuffles without _sync, which CUDA has no more, are missing");
template <class T> T __shfl_xor(T, int, int = 32) KMM_HOST_MISSING("shuffles without _sync, which CUDA has no more, are missing");
int __ballot(int) KMM_HOST_MISSING("votes without _sync, which CUDA has no more, are missing");
int __any(int) KMM_HOST_MISSING("votes without _sync, which CUDA has no more, are missing");
int __all(int) KMM_HOST_MISSING("votes without _sync, which CUDA has no more, are missing");
#undef KMM_HOST_MISSING

/* ---- Boxes of memory ---- */
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
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
static inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return cudaExtent{w, h, d}; }
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return cudaPos{x, y, z}; }
static inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y) { return cudaPitchedPtr{p, pitch, x, y}; }

static inline cudaError_t cudaMalloc3D(cudaPitchedPtr *out, cudaExtent e)
{
    char *base = nullptr;
    size_t pitch = 0;
    cudaError_t error = cudaMallocPitch(&base, &pitch, e.width, e.height * e.depth);
    *out = cudaPitchedPtr{base, pitch, e.width, e.height};
    return error;
}
/* Offsets and widths are bytes, since there are no arrays. */
static inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p)
{
    const cudaExtent e = p->extent;
    if (p->srcArray || p->dstArray || p->srcPtr.pitch < p->srcPos.x + e.width || p->dstPtr.pitch < p->dstPos.x + e.width)
        return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < e.depth && e.width && e.height && !error; z++) {
        const size_t from = ((p->srcPos.z + z) * p->srcPtr.ysize + p->srcPos.y) * p->srcPtr.pitch + p->srcPos.x;
        const size_t to = ((p->dstPos.z + z) * p->dstPtr.ysize + p->dstPos.y) * p->dstPtr.pitch + p->dstPos.x;
        error = cudaMemcpy2D((char *)p->dstPtr.ptr + to, p->dstPtr.pitch, (const char *)p->srcPtr.ptr + from, p->srcPtr.pitch, e.width, e.height, p->kind);
    }
    return error;
}
static inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t s = 0)
{
    cudaError_t error = cudaStreamSynchronize(s);
    return error ? error : cudaMemcpy3D(p);
}
static inline cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int v, size_t w, size_t h, cudaStream_t s = 0)
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
static inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int v, cudaExtent e, cudaStream_t s = 0)
{
    cudaError_t error = cudaStreamSynchronize(s);
    return error ? error : cudaMemset3D(p, v, e);
}

/* ---- Symbols and pointers ---- */
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t bytes, size_t offset = 0, enum cudaMemcpyKind k = cudaMemcpyDeviceToHost,
                                                    cudaStream_t s = 0)
{
    cudaError_t error = cudaStreamSynchronize(s);
    return error ? error : cudaMemcpyFromSymbol(dst, symbol, bytes, offset, k);
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *out, const T &)
{
    *out = sizeof(T);
    return cudaSuccess;
}
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes { cudaMemoryType type; int device; void *devicePointer, *hostPointer; };
static inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p)
{
    const bool is_device = kmm_cuda_is_managed(p);
    const int device = is_device ? kmm_cuda_pointer_device(p) : kmm_cuda_device_current();
    *a = cudaPointerAttributes{is_device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, device, const_cast<void *>(p),
                               is_device ? nullptr : const_cast<void *>(p)};
    return cudaSuccess;
}
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation, cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy
};
static inline cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
static inline cudaError_t cudaHostGetFlags(unsigned *flags, void *)
{
    *flags = cudaHostAllocDefault;
    return cudaSuccess;
}

/* ---- Occupancy: a core runs one block at a time ---- */
template <class F> static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F, int threads, size_t)
{
    *blocks = threads >= 1 && threads <= 1024;
    return *blocks ? cudaSuccess : cudaErrorInvalidValue;
}
template <class F> static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, F f, int threads, size_t shared, unsigned)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}
/* 256 threads are enough to make loops of; limit 0 is none. */
template <class F> static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *threads, F, size_t = 0, int limit = 0)
{
    *grid = (int)sysconf(_SC_NPROCESSORS_ONLN);
    *threads = limit > 0 && limit < 256 ? limit : 256;
    return cudaSuccess;
}
template <class F, class S> static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *threads, F f, S, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, threads, f, 0, limit);
}
template <class F> static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, F, int, int)
{
    *bytes = 48 << 10;
    return cudaSuccess;
}

/* ---- The device ---- */
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth, cudaLimitDevRuntimePendingLaunchCount };
static inline cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache) { return cudaSuccess; }
static inline cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *out)
{
    *out = cudaFuncCachePreferNone;
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
template <class F> static inline cudaError_t cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) { return cudaSuccess; }
/* A kernel's stack and heap are the program's. */
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
        if (!cudaDeviceGetPCIBusId(own, sizeof(own), *device) && (!strcmp(text, own) || !strcmp(text, own + strlen("0000:"))))
            return cudaSuccess;
    return cudaErrorInvalidDevice;
}

/* ---- Several devices: all reach each other's memory, and only mistakes in asking for it are errors ---- */
enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1, cudaDevP2PAttrAccessSupported, cudaDevP2PAttrNativeAtomicSupported, cudaDevP2PAttrCudaArrayAccessSupported
};
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
static inline cudaError_t cudaDeviceDisablePeerAccess(int peer) { return (cudaError_t)kmm_cuda_peer_set(peer, 0); }
static inline cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr what, int device, int peer)
{
    *value = what != cudaDevP2PAttrPerformanceRank && what != cudaDevP2PAttrCudaArrayAccessSupported;
    return kmm_cuda_peer_can(device, peer) ? cudaSuccess : cudaErrorInvalidDevice;
}
static inline cudaError_t cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t bytes)
{
    return (cudaError_t)kmm_cuda_memcpy_peer(dst, to, src, from, bytes);
}
static inline cudaError_t cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t bytes, cudaStream_t = 0)
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
    const cudaMemcpy3DParms plain = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos, p->dstPtr, p->extent, cudaMemcpyDefault};
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
static inline cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned *out)
{
    *out = cudaStreamDefault;
    return cudaSuccess;
}
static inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s = 0, unsigned = 0) { return cudaEventRecord(e, s); }
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
static inline cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *arg, unsigned)
{
    cudaError_t error = cudaStreamSynchronize(s);
    f(s, error, arg);
    return cudaSuccess;
}

#endif
