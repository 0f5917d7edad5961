/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA runtime's calls on the CPU target. A call that is not declared here is a compile error
 * that names it. */
#ifndef KMM_HOST_API_H
#define KMM_HOST_API_H

#include <new>

/* ---- Errors ---- */
static inline cudaError_t cudaGetLastError() { return (cudaError_t)kmm_cuda_get_last_error(); }
static inline cudaError_t cudaPeekAtLastError()
{
    return (cudaError_t)kmm_cuda_peek_at_last_error();
}
static inline const char *cudaGetErrorName(cudaError_t e) { return kmm_cuda_get_error_name(e); }
static inline const char *cudaGetErrorString(cudaError_t e) { return kmm_cuda_get_error_string(e); }

/* ---- Memory ---- */
template <class kmm_T>
static inline cudaError_t cudaMallocManaged(kmm_T **out, size_t bytes,
                                            unsigned = cudaMemAttachGlobal);
template <class kmm_T> static inline cudaError_t cudaMalloc(kmm_T **out, size_t bytes)
{
    void *base = nullptr;
    /* kernels launched inside a task get the address as it is, so the memory must be the host's */
    if (kmm_task_active())
        return cudaMallocManaged(out, bytes);
    int error = kmm_cuda_malloc(out ? &base : nullptr, bytes);
    if (out)
        *out = static_cast<kmm_T *>(base);
    return (cudaError_t)error;
}
template <class kmm_T>
static inline cudaError_t cudaMallocAsync(kmm_T **out, size_t bytes, cudaStream_t)
{
    return cudaMalloc(out, bytes);
}
template <class kmm_T>
static inline cudaError_t cudaMallocPitch(kmm_T **out, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(out, *pitch * height);
}
static inline cudaError_t cudaFree(void *p);
static inline cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return cudaFree(p); }
static inline cudaError_t cudaMemcpy(void *dst, const void *src, size_t n, enum cudaMemcpyKind k)
{
    return (cudaError_t)kmm_cuda_memcpy(dst, src, n, k);
}
static inline cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t n,
                                          enum cudaMemcpyKind k, cudaStream_t s = 0)
{
    return (cudaError_t)kmm_cuda_memcpy_async(dst, src, n, k, s);
}
static inline cudaError_t cudaMemcpy2D(void *dst, size_t dp, const void *src, size_t sp, size_t w,
                                       size_t h, enum cudaMemcpyKind k)
{
    return (cudaError_t)kmm_cuda_memcpy_2d(dst, dp, src, sp, w, h, k);
}
static inline cudaError_t cudaMemcpy2DAsync(void *dst, size_t dp, const void *src, size_t sp,
                                            size_t w, size_t h, enum cudaMemcpyKind k,
                                            cudaStream_t = 0)
{
    return (cudaError_t)kmm_cuda_memcpy_2d(dst, dp, src, sp, w, h, k);
}
/* Memory that host and kernels both use is the host's own. Once a program has such memory, its
 * launches wait for each other. */
inline bool &kmm_host_has_common_memory();
static inline cudaError_t cudaMemset(void *p, int v, size_t n)
{
    if (n == 0 || kmm_cuda_is_managed(p))
        return (cudaError_t)kmm_cuda_memset(p, v, n);
    if (!p)
        return cudaErrorInvalidValue;
    int error = kmm_cuda_device_settle();
    memset(p, v, n);
    return (cudaError_t)error;
}
static inline cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t = 0)
{
    return cudaMemset(p, v, n);
}
static inline cudaError_t cudaMemset2D(void *p, size_t pitch, int v, size_t w, size_t h)
{
    cudaError_t e = cudaSuccess;
    for (size_t row = 0; row < h && !e; row++)
        e = cudaMemset((char *)p + row * pitch, v, w);
    return e;
}

template <class kmm_T>
static inline cudaError_t cudaMallocHost(kmm_T **out, size_t bytes, unsigned = 0)
{
    void *base = nullptr;
    int error = kmm_cuda_malloc_common(out ? &base : nullptr, bytes);
    if (out)
        *out = static_cast<kmm_T *>(base);
    return (cudaError_t)error;
}
template <class kmm_T>
static inline cudaError_t cudaHostAlloc(kmm_T **out, size_t bytes, unsigned flags)
{
#ifndef KMM_HOST_PARSE
    if (flags & cudaHostAllocMapped)
        kmm_host_has_common_memory() = true;
#endif
    return cudaMallocHost(out, bytes, flags);
}
template <class kmm_T>
static inline cudaError_t cudaMallocManaged(kmm_T **out, size_t bytes, unsigned)
{
#ifndef KMM_HOST_PARSE
    kmm_host_has_common_memory() = true;
#endif
    return cudaMallocHost(out, bytes);
}
static inline cudaError_t cudaFreeHost(void *p) { return (cudaError_t)kmm_cuda_free_common(p); }
static inline cudaError_t cudaFree(void *p)
{
    return !p || kmm_cuda_is_managed(p) ? (cudaError_t)kmm_cuda_free(p)
#ifndef KMM_HOST_PARSE
           : kmm_host_has_common_memory() ? cudaFreeHost(p)
#endif
                                          : (cudaError_t)kmm_cuda_free(p);
}
template <class kmm_T>
static inline cudaError_t cudaHostGetDevicePointer(kmm_T **out, void *host, unsigned)
{
    *out = static_cast<kmm_T *>(host);
    return cudaSuccess;
}
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
static inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0)
{
    return cudaSuccess;
}

template <class kmm_T>
static inline cudaError_t cudaMemcpyToSymbol(const kmm_T &symbol, const void *src, size_t bytes,
                                             size_t offset = 0,
                                             enum cudaMemcpyKind = cudaMemcpyHostToDevice)
{
    if (offset > sizeof(kmm_T) || bytes > sizeof(kmm_T) - offset)
        return cudaErrorInvalidValue;
    return (cudaError_t)kmm_cuda_symbol_write(&symbol, (char *)(void *)&symbol + offset, src,
                                              bytes);
}
template <class kmm_T>
static inline cudaError_t
cudaMemcpyToSymbolAsync(const kmm_T &symbol, const void *src, size_t bytes, size_t offset = 0,
                        enum cudaMemcpyKind k = cudaMemcpyHostToDevice, cudaStream_t = 0)
{
    return cudaMemcpyToSymbol(symbol, src, bytes, offset, k);
}
template <class kmm_T>
static inline cudaError_t cudaMemcpyFromSymbol(void *dst, const kmm_T &symbol, size_t bytes,
                                               size_t offset = 0,
                                               enum cudaMemcpyKind = cudaMemcpyDeviceToHost)
{
    if (offset > sizeof(kmm_T) || bytes > sizeof(kmm_T) - offset)
        return cudaErrorInvalidValue;
    return (cudaError_t)kmm_cuda_symbol_read(dst, &symbol, (const char *)&symbol + offset, bytes);
}
template <class kmm_T>
static inline cudaError_t cudaGetSymbolAddress(void **out, const kmm_T &symbol)
{
    return (cudaError_t)kmm_cuda_symbol_address(out, &symbol);
}

/* ---- Streams and events ---- */
static inline cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return (cudaError_t)kmm_cuda_stream_create((void **)out);
}
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned)
{
    return cudaStreamCreate(out);
}
static inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned, int)
{
    return cudaStreamCreate(out);
}
static inline cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    return (cudaError_t)kmm_cuda_stream_destroy(s);
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    return (cudaError_t)kmm_cuda_stream_synchronize(s);
}
static inline cudaError_t cudaStreamQuery(cudaStream_t s)
{
    return (cudaError_t)kmm_cuda_stream_query(s);
}
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned = 0)
{
    return (cudaError_t)kmm_cuda_stream_wait_event(s, e);
}
static inline cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *arg)
{
    cudaError_t e = cudaStreamSynchronize(s);
    f(arg);
    return e;
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return (cudaError_t)kmm_cuda_event_create((void **)out);
}
static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    return flags & cudaEventDisableTiming ? (cudaError_t)kmm_cuda_event_create_untimed((void **)out)
                                          : cudaEventCreate(out);
}
static inline cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    return (cudaError_t)kmm_cuda_event_destroy(e);
}
static inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = 0)
{
    int error = kmm_cuda_same_device(e, s, "cudaEventRecord: an event");
    return (cudaError_t)(error ? error : kmm_cuda_event_record(e, s));
}
static inline cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    return (cudaError_t)kmm_cuda_event_synchronize(e);
}
static inline cudaError_t cudaEventQuery(cudaEvent_t e)
{
    return (cudaError_t)kmm_cuda_event_query(e);
}
static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
    return (cudaError_t)kmm_cuda_event_elapsed_timed(ms, a, b);
}

/* ---- The device ---- */
static inline cudaError_t cudaDeviceSynchronize()
{
    return (cudaError_t)kmm_cuda_device_synchronize();
}
static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaGetDeviceCount(int *n)
{
    return (cudaError_t)kmm_cuda_device_count(n);
}
static inline cudaError_t cudaGetDevice(int *d)
{
    *d = kmm_cuda_device_current();
    return cudaSuccess;
}
static inline cudaError_t cudaSetDevice(int d) { return (cudaError_t)kmm_cuda_device_set(d); }
static inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
static inline cudaError_t cudaDriverGetVersion(int *v)
{
    *v = CUDART_VERSION;
    return cudaSuccess;
}
static inline cudaError_t cudaRuntimeGetVersion(int *v)
{
    *v = CUDART_VERSION;
    return cudaSuccess;
}
static inline cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    kmm_cuda_device_info_t own;
    int error = kmm_cuda_device_info(kmm_cuda_device_current(), &own);
    const bool is_pretend = own.memory_bytes > 0;
    *total = is_pretend ? own.memory_bytes
                        : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *free_bytes = is_pretend ? own.free_bytes
                             : (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return (cudaError_t)error;
}
/* Describes the CPU in the words of GPUs: each core is a multiprocessor that runs one block at a
 * time. */
static inline cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    kmm_cuda_device_info_t own;
    int error = kmm_cuda_device_info(device, &own);
    if (error)
        return (cudaError_t)error;
    const bool is_pretend = own.memory_bytes > 0;
    memset(p, 0, sizeof(*p));
    snprintf(p->name, sizeof(p->name), "CPU (kmm)%s%s", *own.name ? ", " : "", own.name);
    memcpy(p->uuid.bytes, "kmm CPU device ", 15);
    p->uuid.bytes[15] = (char)device;
    p->totalGlobalMem = is_pretend
                            ? own.memory_bytes
                            : (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    p->pciBusID = device;
    p->major = KMM_HOST_MAJOR;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = 227 << 10;
    p->sharedMemPerMultiprocessor = 228 << 10;
    p->reservedSharedMemPerBlock = 1 << 10;
    p->totalConstMem = 64 << 10;
    p->memPitch = 0x7fffffff;
    p->textureAlignment = p->texturePitchAlignment = p->surfaceAlignment = 512;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->maxBlocksPerMultiProcessor = 1;
    p->warpSize = 32;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] =
        p->maxThreadsPerMultiProcessor = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->multiProcessorCount = (int)sysconf(_SC_NPROCESSORS_ONLN);
    p->clockRate = p->memoryClockRate = 1000000;
    p->memoryBusWidth = 64;
    p->singleToDoublePrecisionPerfRatio = 2;
    p->integrated = !is_pretend;
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = 1;
    p->hostNativeAtomicSupported = p->hostRegisterSupported = p->canUseHostPointerForRegisteredMem =
        p->memoryPoolsSupported = 1;
    p->deviceNumaId = p->hostNumaId = -1;
    return cudaSuccess;
}
/* Attributes that are not listed name something that the CPU target lacks; they are 0. */
static inline cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr what, int device)
{
    struct cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (e)
        return e;
    if (what < cudaDevAttrMaxThreadsPerBlock || (int)what > KMM_HOST_LAST_ATTRIBUTE)
        return cudaErrorInvalidValue;
    const struct {
        enum cudaDeviceAttr what;
        size_t value;
    } table[] = {
        {cudaDevAttrMaxThreadsPerBlock, (size_t)p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, (size_t)p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, (size_t)p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, (size_t)p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, (size_t)p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, (size_t)p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, (size_t)p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin},
        {cudaDevAttrReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock},
        {cudaDevAttrTotalConstantMemory, p.totalConstMem},
        {cudaDevAttrWarpSize, (size_t)p.warpSize},
        {cudaDevAttrMaxPitch, p.memPitch},
        {cudaDevAttrTextureAlignment, p.textureAlignment},
        {cudaDevAttrTexturePitchAlignment, p.texturePitchAlignment},
        {cudaDevAttrSurfaceAlignment, p.surfaceAlignment},
        {cudaDevAttrMaxRegistersPerBlock, (size_t)p.regsPerBlock},
        {cudaDevAttrMaxRegistersPerMultiprocessor, (size_t)p.regsPerMultiprocessor},
        {cudaDevAttrClockRate, (size_t)p.clockRate},
        {cudaDevAttrMemoryClockRate, (size_t)p.memoryClockRate},
        {cudaDevAttrGlobalMemoryBusWidth, (size_t)p.memoryBusWidth},
        {cudaDevAttrMultiProcessorCount, (size_t)p.multiProcessorCount},
        {cudaDevAttrMaxThreadsPerMultiProcessor, (size_t)p.maxThreadsPerMultiProcessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, (size_t)p.maxBlocksPerMultiProcessor},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, (size_t)p.singleToDoublePrecisionPerfRatio},
        {cudaDevAttrIntegrated, (size_t)p.integrated},
        {cudaDevAttrPciBusId, (size_t)p.pciBusID},
        {cudaDevAttrComputeCapabilityMajor, (size_t)p.major},
        {cudaDevAttrComputeCapabilityMinor, (size_t)p.minor},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrConcurrentKernels, 1},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrHostNativeAtomicSupported, 1},
        {cudaDevAttrHostRegisterSupported, 1},
        {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
        {cudaDevAttrMemoryPoolsSupported, 1},
    };
    *value = 0;
    for (const auto &t : table)
        if (t.what == what)
            *value = (int)t.value;
    return cudaSuccess;
}
/* Asks a kernel about itself. The kernel is called with parameters of zeros, which it does not
 * read, and fills in `a` instead of running. */
static inline cudaError_t kmm_host_ask(struct kmm_host_asked *a, const void *kernel);
template <class... kmm_P>
static inline cudaError_t kmm_host_ask(struct kmm_host_asked *a, void (*kernel)(kmm_P...));

template <class kmm_F>
static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, kmm_F kernel)
{
    struct kmm_host_asked own;
    const cudaError_t error = kmm_host_ask(&own, kernel);
    if (error)
        return error;
    memset(a, 0, sizeof(*a));
    a->sharedSizeBytes = own.shared;
    a->maxThreadsPerBlock = (int)own.bound;
    a->maxDynamicSharedSizeBytes = (int)*own.dynamic;
    a->numRegs = 32;
    a->ptxVersion = a->binaryVersion = 10 * KMM_HOST_MAJOR;
    a->preferredShmemCarveout = -1;
    return cudaSuccess;
}
/* Raises the limit of the kernel's dynamic shared memory. Other attributes have no effect on a CPU.
 */
template <class kmm_F>
static inline cudaError_t cudaFuncSetAttribute(kmm_F kernel, enum cudaFuncAttribute what, int value)
{
    struct kmm_host_asked own;
    const cudaError_t error = kmm_host_ask(&own, kernel);
    if (error || what != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return error;
    if (value < 0 || (size_t)value + own.shared > KMM_HOST_DYNAMIC_MOST)
        return cudaErrorInvalidValue;
    __atomic_store_n(own.dynamic, (size_t)value, __ATOMIC_RELAXED);
    return cudaSuccess;
}
template <class kmm_F> static inline cudaError_t cudaFuncSetCacheConfig(kmm_F, enum cudaFuncCache)
{
    return cudaSuccess;
}

#endif
