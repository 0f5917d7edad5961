/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda.so.1: the driver calls of the CUDA backend and of the memory resources, on the machine
 * of fake.h. */
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "launch/device_code.h"
#include "resource/driver.h"

enum { MAX_STACK = 16 };

const char *fake_driver = "cuda";

/* A context is the address of its device. */
static _Thread_local CUcontext stack[MAX_STACK];
static _Thread_local int depth;

#define FAKE FAKE_EXPORT CUresult

/* The device of the current context; negative: none. */
static int current(void)
{
    fake_device_t *d = depth ? (fake_device_t *)(void *)stack[depth - 1] : NULL;
    return d && d->references ? (int)(d - fake_devices) : -1;
}

static void *pointer(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

/* ---- Devices and contexts ---- */

FAKE cuInit(unsigned flags)
{
    return flags ? FAKE_INVALID_VALUE : fake_start();
}

typedef struct name {
    CUresult code;
    const char *name, *text;
} name_t;
static const name_t names[] = {
    {FAKE_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {FAKE_NO_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {FAKE_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {FAKE_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {FAKE_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {FAKE_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {FAKE_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "already registered"},
    {CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {FAKE_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {FAKE_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {FAKE_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {FAKE_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static const name_t *name_of(CUresult r)
{
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (names[k].code == r)
            return &names[k];
    return NULL;
}

FAKE cuGetErrorName(CUresult r, const char **out)
{
    const name_t *n = name_of(r);
    *out = n ? n->name : NULL;
    return n ? FAKE_OK : FAKE_INVALID_VALUE;
}

FAKE cuGetErrorString(CUresult r, const char **out)
{
    const name_t *n = name_of(r);
    *out = n ? n->text : NULL;
    return n ? FAKE_OK : FAKE_INVALID_VALUE;
}

FAKE cuDeviceGetCount(int *out)
{
    *out = fake_count();
    return *out < 0 ? FAKE_NOT_INITIALIZED : FAKE_OK;
}

FAKE cuDeviceGet(CUdevice *out, int ordinal)
{
    *out = ordinal;
    return fake_is_device(ordinal) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

FAKE cuDeviceGetName(char *out, int bytes, CUdevice d)
{
    snprintf(out, (size_t)bytes, "Fake GPU %d", d);
    return fake_is_device(d) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

static CUresult pci_attribute(int *out, int attribute, CUdevice d)
{
    unsigned at[4];
    if (!fake_pci(d, at))
        return FAKE_INVALID_VALUE;
    *out = (int)at[attribute == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID ? 0
                   : attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID  ? 1
                                                                  : 2];
    return FAKE_OK;
}

FAKE cuDeviceGetAttribute(int *out, int attribute, CUdevice d)
{
    if (!fake_is_device(d))
        return FAKE_INVALID_DEVICE;
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID ||
        attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ||
        attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
        return pci_attribute(out, attribute, d);
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *out = 9; return FAKE_OK;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *out = 1; return FAKE_OK;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *out = 100 + d; return FAKE_OK;
    }
    *out = attribute == CU_DEVICE_ATTRIBUTE_MAX_PITCH
               ? FAKE_PITCH_LIMIT
               : attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
                     attribute == CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    return FAKE_OK;
}

FAKE cuDeviceTotalMem_v2(size_t *out, CUdevice d)
{
    *out = fake_memory();
    return fake_is_device(d) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

FAKE cuDeviceCanAccessPeer(int *out, CUdevice a, CUdevice b)
{
    *out = a != b && fake_have_peers();
    return fake_is_device(a) && fake_is_device(b) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

static int device_of(CUcontext c)
{
    return (int)((fake_device_t *)(void *)c - fake_devices);
}

FAKE cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice d)
{
    if (!fake_is_device(d))
        return FAKE_INVALID_DEVICE;
    pthread_mutex_lock(&fake_lock);
    fake_devices[d].references++;
    fake_live.contexts++;
    pthread_mutex_unlock(&fake_lock);
    *out = (CUcontext)(void *)&fake_devices[d];
    return FAKE_OK;
}

FAKE cuDevicePrimaryCtxRelease_v2(CUdevice d)
{
    if (!fake_is_device(d))
        return FAKE_INVALID_DEVICE;
    pthread_mutex_lock(&fake_lock);
    fake_release(d);
    pthread_mutex_unlock(&fake_lock);
    return FAKE_OK;
}

FAKE cuCtxPushCurrent_v2(CUcontext c)
{
    if (depth == MAX_STACK)
        fake_broken("contexts are pushed and never popped");
    stack[depth++] = c;
    return FAKE_OK;
}

FAKE cuCtxPopCurrent_v2(CUcontext *out)
{
    if (depth == 0)
        return FAKE_INVALID_CONTEXT;
    *out = stack[--depth];
    return FAKE_OK;
}

FAKE cuCtxGetCurrent(CUcontext *out)
{
    *out = depth ? stack[depth - 1] : NULL;
    return FAKE_OK;
}

FAKE cuCtxGetDevice(CUdevice *out)
{
    *out = current();
    return *out >= 0 ? FAKE_OK : FAKE_INVALID_CONTEXT;
}

FAKE cuCtxEnablePeerAccess(CUcontext c, unsigned flags)
{
    static bool enabled[FAKE_MAX_DEVICES][FAKE_MAX_DEVICES];
    int from = current();
    if (!c || flags || from < 0)
        return FAKE_INVALID_VALUE;
    if (device_of(c) == from)
        return FAKE_INVALID_DEVICE;
    pthread_mutex_lock(&fake_lock);
    bool again = enabled[from][device_of(c)];
    enabled[from][device_of(c)] = true;
    pthread_mutex_unlock(&fake_lock);
    return again ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : FAKE_OK;
}

FAKE cuCtxSynchronize(void)
{
    if (current() < 0)
        return FAKE_INVALID_CONTEXT;
    fake_settle();
    return FAKE_OK;
}

FAKE cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    if (current() < 0)
        return FAKE_INVALID_CONTEXT;
    pthread_mutex_lock(&fake_lock);
    *total = fake_memory();
    *free_bytes = fake_memory() - fake_devices[current()].used;
    pthread_mutex_unlock(&fake_lock);
    return FAKE_OK;
}

/* ---- Mapped memory ---- */

FAKE cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *p, int option)
{
    *out = fake_granule();
    return p->type == CU_MEM_ALLOCATION_TYPE_PINNED && option == CU_MEM_ALLOC_GRANULARITY_MINIMUM
               ? FAKE_OK
               : FAKE_INVALID_VALUE;
}

FAKE cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t alignment, CUdeviceptr hint,
                         unsigned long long flags)
{
    char *at = NULL;
    (void)alignment, (void)hint;
    int r = flags ? FAKE_INVALID_VALUE : fake_reserve(bytes, &at);
    *out = (CUdeviceptr)(uintptr_t)at;
    return r;
}

FAKE cuMemAddressFree(CUdeviceptr at, size_t bytes)
{
    return fake_unreserve(pointer(at), bytes);
}

FAKE cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes, const CUmemAllocationProp *p,
                 unsigned long long flags)
{
    fake_frame_t *f = NULL;
    bool host_backed = p->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    if (flags || p->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        !(host_backed ? p->location.id == 0 : p->location.type == CU_MEM_LOCATION_TYPE_DEVICE))
        return FAKE_INVALID_VALUE;
    int r = host_backed ? fake_frame_create_host_backed(bytes, &f)
                        : fake_frame_create(p->location.id, bytes, &f);
    *out = (CUmemGenericAllocationHandle)(uintptr_t)f;
    return r;
}

FAKE cuMemRelease(CUmemGenericAllocationHandle h)
{
    return fake_frame_release(pointer(h));
}

FAKE cuMemMap(CUdeviceptr to, size_t bytes, size_t offset, CUmemGenericAllocationHandle h,
              unsigned long long flags)
{
    return offset || flags ? FAKE_INVALID_VALUE : fake_map(pointer(to), bytes, pointer(h));
}

FAKE cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access, size_t count)
{
    int device = access->location.id;
    if (count != 1 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
        access->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return FAKE_INVALID_VALUE;
    return fake_allow(pointer(at), bytes, &device, 1);
}

FAKE cuMemUnmap(CUdeviceptr from, size_t bytes)
{
    return fake_unmap(pointer(from), bytes);
}

FAKE cuMemHostRegister_v2(void *base, size_t bytes, unsigned flags)
{
    if (current() < 0)
        return FAKE_INVALID_CONTEXT;
    return flags == CU_MEMHOSTREGISTER_PORTABLE ? fake_register(base, bytes) : FAKE_INVALID_VALUE;
}

FAKE cuMemHostUnregister(void *base)
{
    return current() < 0 ? FAKE_INVALID_CONTEXT : fake_unregister(base);
}

/* ---- Allocated memory ---- */

static CUresult allocate(CUdeviceptr *out, size_t bytes, CUmemoryPool pool)
{
    void *at = NULL;
    int r = current() < 0 ? FAKE_INVALID_CONTEXT
                          : fake_allocate(current(), bytes, (fake_pool_t *)(void *)pool, &at);
    *out = (CUdeviceptr)(uintptr_t)at;
    return r;
}

static CUresult give_back(CUdeviceptr p)
{
    return current() < 0 ? FAKE_INVALID_CONTEXT : fake_free(pointer(p));
}

FAKE cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
    return allocate(out, bytes, NULL);
}

/* Freeing waits for all work. */
static CUresult settle_and_give_back(CUdeviceptr p)
{
    fake_settle();
    return give_back(p);
}

FAKE cuMemFree_v2(CUdeviceptr p)
{
    return settle_and_give_back(p);
}

FAKE cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    return flags == CU_MEM_ATTACH_GLOBAL ? allocate(out, bytes, NULL) : FAKE_INVALID_VALUE;
}

FAKE cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    CUdeviceptr p = 0;
    CUresult r = flags == CU_MEMHOSTALLOC_PORTABLE ? allocate(&p, bytes, NULL) : FAKE_INVALID_VALUE;
    *out = pointer(p);
    return r;
}

FAKE cuMemFreeHost(void *p)
{
    return settle_and_give_back((CUdeviceptr)(uintptr_t)p);
}

FAKE cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation to, unsigned flags,
                           CUstream s)
{
    (void)s;
    bool right = to.type == CU_MEM_LOCATION_TYPE_DEVICE && flags == 0 &&
                 fake_is_allocated(pointer(p), bytes);
    return right ? FAKE_OK : FAKE_INVALID_VALUE;
}

FAKE cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *p)
{
    fake_pool_t *pool = NULL;
    const bool kind = p->allocType == CU_MEM_ALLOCATION_TYPE_PINNED ||
                      p->allocType == 2; /* managed, since CUDA 13 */
    if (!kind || p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return FAKE_INVALID_VALUE;
    int r = fake_pool_create(p->location.id, p->maxSize, &pool);
    *out = (CUmemoryPool)(void *)pool;
    return r;
}

static fake_pool_t *pool_of(CUmemoryPool p)
{
    return (fake_pool_t *)(void *)p;
}

FAKE cuMemPoolDestroy(CUmemoryPool pool)
{
    return fake_pool_destroy(pool_of(pool));
}

FAKE cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value)
{
    if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        return FAKE_INVALID_VALUE;
    *fake_pool_threshold(pool_of(pool)) = *(uint64_t *)value;
    return FAKE_OK;
}

FAKE cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value)
{
    bool threshold = attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    *(uint64_t *)value =
        threshold ? *fake_pool_threshold(pool_of(pool)) : fake_pool_used(pool_of(pool));
    return FAKE_OK;
}

FAKE cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    if (count != 1 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
        access->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return FAKE_INVALID_VALUE;
    return fake_pool_allow(pool_of(pool), access->location.id);
}

FAKE cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    (void)pool, (void)keep; /* nothing is held back */
    return FAKE_OK;
}

FAKE cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream s)
{
    (void)s;
    return pool ? allocate(out, bytes, pool) : FAKE_INVALID_VALUE;
}

/* ---- Streams and events ---- */

static fake_stream_t *stream(CUstream s)
{
    return (fake_stream_t *)(void *)s;
}

static fake_event_t *event(CUevent e)
{
    return (fake_event_t *)(void *)e;
}

FAKE cuStreamCreate(CUstream *out, unsigned flags)
{
    fake_stream_t *s = NULL;
    if (current() < 0)
        return FAKE_INVALID_CONTEXT;
    int r = flags <= CU_STREAM_NON_BLOCKING
                ? fake_stream_create(current(), flags != CU_STREAM_NON_BLOCKING, &s)
                : FAKE_INVALID_VALUE;
    *out = (CUstream)(void *)s;
    return r;
}

FAKE cuStreamDestroy_v2(CUstream s)
{
    return fake_stream_destroy(stream(s));
}
FAKE cuStreamQuery(CUstream s)
{
    return fake_stream_query(stream(s));
}
FAKE cuStreamSynchronize(CUstream s)
{
    return fake_stream_synchronize(stream(s));
}

FAKE cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    return flags ? FAKE_INVALID_VALUE : fake_stream_wait(stream(s), event(e));
}

/* The real driver orders this on the stream; here the stream's work is awaited. */
FAKE cuMemFreeAsync(CUdeviceptr p, CUstream s)
{
    CUresult r = cuStreamSynchronize(s);
    return r ? r : give_back(p);
}

FAKE cuEventCreate(CUevent *out, unsigned flags)
{
    fake_event_t *e = NULL;
    if (current() < 0)
        return FAKE_INVALID_CONTEXT;
    int r = flags & ~(unsigned)CU_EVENT_DISABLE_TIMING ? FAKE_INVALID_VALUE
                                                       : fake_event_create(current(), !flags, &e);
    *out = (CUevent)(void *)e;
    return r;
}

FAKE cuEventDestroy_v2(CUevent e)
{
    return fake_event_destroy(event(e));
}

FAKE cuEventRecord(CUevent e, CUstream s)
{
    return !s && current() < 0 ? FAKE_INVALID_CONTEXT : fake_event_record(event(e), stream(s));
}

FAKE cuEventQuery(CUevent e)
{
    return fake_event_query(event(e));
}
FAKE cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    return fake_event_elapsed(ms, event(from), event(to));
}
FAKE cuEventSynchronize(CUevent e)
{
    return fake_event_synchronize(event(e));
}

/* ---- Graphs ---- */

FAKE cuThreadExchangeStreamCaptureMode(int *mode)
{
    return fake_capture_exchange(mode);
}
FAKE cuStreamBeginCapture_v2(CUstream s, int mode)
{
    return fake_capture_begin(stream(s), mode);
}
FAKE cuStreamIsCapturing(CUstream s, int *out)
{
    return fake_capture_status(stream(s), out);
}
FAKE cuStreamEndCapture(CUstream s, fake_graph_t **out)
{
    return fake_capture_end(stream(s), out);
}
FAKE cuGraphLaunch(fake_graph_t *g, CUstream s)
{
    return fake_graph_launch(g, stream(s));
}
FAKE cuGraphDestroy(fake_graph_t *g)
{
    return fake_graph_destroy(g);
}

/* ---- Work ---- */

static CUresult copy(const void *dst, bool to_device, const void *src, bool from_device,
                     size_t bytes, CUstream s)
{
    int d = current();
    if (d < 0)
        return FAKE_INVALID_CONTEXT;
    return fake_enqueue_copy(
        d, stream(s),
        &(fake_copy_t){dst, src, to_device, from_device, d, d, bytes, 1, bytes, bytes});
}

FAKE cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream s)
{
    return copy(pointer(dst), fake_is_devices(pointer(dst)), pointer(src),
                fake_is_devices(pointer(src)), bytes, s);
}

FAKE cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream s)
{
    return copy(pointer(dst), true, src, false, bytes, s);
}

FAKE cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream s)
{
    return copy(dst, false, pointer(src), true, bytes, s);
}

FAKE cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream s)
{
    return copy(pointer(dst), true, pointer(src), true, bytes, s);
}

FAKE cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src,
                       CUcontext src_context, size_t bytes, CUstream s)
{
    if (!dst_context || !src_context || current() < 0)
        return FAKE_INVALID_VALUE;
    return fake_enqueue_copy(current(), stream(s),
                             &(fake_copy_t){pointer(dst), pointer(src), true, true,
                                            device_of(dst_context), device_of(src_context), bytes,
                                            1, bytes, bytes});
}

FAKE cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *m, CUstream s)
{
    if (!m->dstContext || !m->srcContext || m->Depth != 1 || current() < 0)
        return FAKE_INVALID_VALUE;
    return fake_enqueue_copy(current(), stream(s),
                             &(fake_copy_t){pointer(m->dstDevice), pointer(m->srcDevice), true,
                                            true, device_of(m->dstContext),
                                            device_of(m->srcContext), m->WidthInBytes, m->Height,
                                            m->dstPitch, m->srcPitch});
}

FAKE cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *m, CUstream s)
{
    bool to = m->dstMemoryType == CU_MEMORYTYPE_DEVICE,
         from = m->srcMemoryType == CU_MEMORYTYPE_DEVICE;
    if (m->WidthInBytes > m->dstPitch || m->WidthInBytes > m->srcPitch ||
        m->dstPitch > FAKE_PITCH_LIMIT || m->srcPitch > FAKE_PITCH_LIMIT || m->srcXInBytes ||
        m->srcY || m->dstXInBytes || m->dstY || current() < 0)
        return FAKE_INVALID_VALUE;
    return fake_enqueue_copy(current(), stream(s),
                             &(fake_copy_t){to ? pointer(m->dstDevice) : m->dstHost,
                                            from ? pointer(m->srcDevice) : m->srcHost, to, from,
                                            current(), current(), m->WidthInBytes, m->Height,
                                            m->dstPitch, m->srcPitch});
}

FAKE cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t bytes, CUstream s)
{
    return current() < 0 ? FAKE_INVALID_CONTEXT
                         : fake_enqueue_fill(current(), stream(s), pointer(dst), value, bytes);
}

/* libkmm's own kernels, of which its PTX code has the names. They run from the source that the code
 * was compiled from. */
static int run_own(kmm__device_kernel_t kernel, const uint32_t block[3], void **args)
{
    kmm__device_code_run(kernel, args[0], block[0]);
    return FAKE_OK;
}

static int run_fill(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    return run_own(KMM__FILL, block, args);
}

static int run_fold(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    return run_own(KMM__FOLD, block, args);
}

static int run_add(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    return run_own(KMM__ADD, block, args);
}

static int run_truth(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)grid;
    return run_own(KMM__TRUTH, block, args);
}

static const uint32_t own_bytes = sizeof(kmm__folding_t);
static fake_kernel_t own_kernels[] = {
    {run_fill, 1, &own_bytes, 0, NULL},
    {run_fold, 1, &own_bytes, 0, NULL},
    {run_add, 1, &own_bytes, 0, NULL},
    {run_truth, 1, &own_bytes, 0, NULL},
};

FAKE cuLibraryLoadData(CUlibrary *out, const void *code, void *options, void *values,
                       unsigned option_count, void *library_options, void *library_values,
                       unsigned library_option_count)
{
    if (!code || options || values || option_count || library_options || library_values ||
        library_option_count)
        return FAKE_INVALID_VALUE;
    *out = (CUlibrary)(uintptr_t)code;
    return FAKE_OK;
}

FAKE cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
    static const char *const own_names[] = KMM__DEVICE_KERNEL_NAMES;
    char entry[64];
    snprintf(entry, sizeof(entry), ".entry %s(", name);
    for (int k = 0; k < KMM__DEVICE_KERNELS; k++)
        if (!strcmp(name, own_names[k]) && strstr((const char *)(void *)library, entry)) {
            *out = (CUkernel)(void *)&own_kernels[k];
            return FAKE_OK;
        }
    return FAKE_NOT_FOUND;
}

FAKE cuKernelGetFunction(CUfunction *out, CUkernel kernel)
{
    *out = (CUfunction)(void *)kernel;
    return current() < 0 ? FAKE_INVALID_CONTEXT : FAKE_OK;
}

FAKE cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice d)
{
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > FAKE_MOST_SHARED ||
        !fake_is_device(d))
        return FAKE_INVALID_VALUE;
    ((fake_kernel_t *)(void *)kernel)->shared_limit = value;
    return FAKE_OK;
}

FAKE cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                    unsigned bz, unsigned shared, CUstream s, void **args, void **extra)
{
    const uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    if (extra || current() < 0)
        return FAKE_INVALID_VALUE;
    return fake_enqueue_kernel(current(), stream(s), (fake_kernel_t *)(void *)f, grid, block,
                               shared, args);
}
