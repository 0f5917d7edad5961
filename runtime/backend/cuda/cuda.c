/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs: the table of CUDA's driver for backend/gpu. It uses the primary contexts, so that
 * the program's own CUDA calls see the same memory. */
#include <dlfcn.h>
#include <stdio.h>

#include "backend/cuda/cuda_driver.h"
#include "backend/gpu/gpu.h"

/* The driver's functions that only CUDA has. Written when the driver is loaded. */
static kmm__cuda_driver_t cu;
static kmm__gpu_driver_t driver;

#define TRY(call, arguments) kmm__gpu_result(&driver, cu.call arguments, "cu" #call)

static const char *load(void *library)
{
#define KMM_X(member, symbol, parameters)                                                          \
    *(void **)(&cu.member) = dlsym(library, symbol);                                               \
    if (!cu.member)                                                                                \
        return symbol;
    KMM__CUDA_CALLS(KMM_X)
#undef KMM_X
    return NULL;
}

static void describe(int r, const char **name, const char **text)
{
    cu.GetErrorName(r, name);
    cu.GetErrorString(r, text);
}

/* ---- Devices ---- */

static kmm__pci_t find(CUdevice device)
{
    int domain = 0, bus = 0, slot = 0;
    bool known = !cu.DeviceGetAttribute(&domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, device) &&
                 !cu.DeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device) &&
                 !cu.DeviceGetAttribute(&slot, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, device);
    return (kmm__pci_t){
        .known = known, .domain = (unsigned)domain, .bus = (unsigned)bus, .device = (unsigned)slot};
}

/* The attribute's value; 0: the driver does not tell it. */
static int attribute(CUdevice device, int number)
{
    int value = 0;
    return cu.DeviceGetAttribute(&value, number, device) ? 0 : value;
}

static int device_open(kmm__gpu_device_t *d)
{
    CUcontext context = NULL;
    CUdevice device = 0;
    int windows = 0, pitch = 0, host_backed = 0, node = -1;
    int error = TRY(DeviceGet, (&device, d->ordinal));
    if (!error)
        error = TRY(DeviceGetAttribute,
                    (&windows, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
    if (!error)
        error = TRY(DeviceGetAttribute, (&pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, device));
    if (!error)
        error = TRY(DevicePrimaryCtxRetain, (&context, device));
    /* Drivers before CUDA 12.2 know neither attribute. */
    if (!error &&
        cu.DeviceGetAttribute(&host_backed,
                              CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                              device) == 0 &&
        host_backed && cu.DeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, device) == 0)
        d->host_node = node > 0 ? node : 0; /* -1: the host has one node */
    d->pci = find(device);
    d->compute_major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    d->compute_minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    d->multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    d->context = context;
    d->max_pitch = pitch;
    d->maps = windows != 0;
    return error;
}

static void device_close(kmm__gpu_device_t *d)
{
    cu.DevicePrimaryCtxRelease(d->ordinal);
}

static bool enter(const kmm__gpu_device_t *d)
{
    CUcontext now = NULL, context = d->context;
    cu.CtxGetCurrent(&now);
    if (now == context)
        return false;
    cu.CtxPushCurrent(context);
    return true;
}

static void leave(bool entered)
{
    CUcontext context;
    if (entered)
        cu.CtxPopCurrent(&context);
}

static int current(void)
{
    CUdevice device = 0;
    return cu.CtxGetDevice(&device) == CUDA_SUCCESS ? (int)device : 0;
}

static int allow_peer(const kmm__gpu_device_t *d, const kmm__gpu_device_t *peer)
{
    (void)peer; /* its context is current */
    int r = cu.CtxEnablePeerAccess(d->context, 0);
    return r == KMM__GPU_PEER_ALREADY_ENABLED
               ? 0
               : kmm__gpu_result(&driver, r, "cuCtxEnablePeerAccess");
}

/* ---- Work ---- */

static int copy_peer(void *stream, kmm__addr_t dst, const kmm__gpu_device_t *to, kmm__addr_t src,
                     const kmm__gpu_device_t *from, size_t bytes)
{
    return TRY(MemcpyPeerAsync, (dst, to->context, src, from->context, bytes, stream));
}

/* Copies rows from one device to another, as a box of depth 1. */
static int copy_rows_peer(void *stream, const kmm__copy_t *c, const kmm__gpu_device_t *to,
                          const kmm__gpu_device_t *from)
{
    CUDA_MEMCPY3D_PEER m = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = c->src,
                            .srcContext = from->context,
                            .srcPitch = (size_t)c->src_pitch,
                            .srcHeight = (size_t)c->rows,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = c->dst,
                            .dstContext = to->context,
                            .dstPitch = (size_t)c->dst_pitch,
                            .dstHeight = (size_t)c->rows,
                            .WidthInBytes = (size_t)c->width,
                            .Height = (size_t)c->rows,
                            .Depth = 1};
    return TRY(Memcpy3DPeerAsync, (&m, stream));
}

static int copy_rows(void *stream, const kmm__copy_t *c, const kmm__gpu_device_t *to,
                     const kmm__gpu_device_t *from)
{
    if (to && from && to != from)
        return copy_rows_peer(stream, c, to, from);
    CUDA_MEMCPY2D m = {.srcPitch = (size_t)c->src_pitch,
                       .dstPitch = (size_t)c->dst_pitch,
                       .WidthInBytes = (size_t)c->width,
                       .Height = (size_t)c->rows};
    m.srcMemoryType = from ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    m.dstMemoryType = to ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    m.srcHost = (const void *)(uintptr_t)c->src;
    m.srcDevice = c->src;
    m.dstHost = (void *)(uintptr_t)c->dst;
    m.dstDevice = c->dst;
    return TRY(Memcpy2DAsync, (&m, stream));
}

static int kernel_load(void *handle, void **function)
{
    CUfunction f = NULL;
    int error = TRY(KernelGetFunction, (&f, handle));
    *function = f;
    return error;
}

static int kernel_allow_shared(void *handle, size_t bytes, const kmm__gpu_device_t *d)
{
    return TRY(KernelSetAttribute, (KMM__GPU_MAX_DYNAMIC_SHARED, (int)bytes, handle, d->ordinal));
}

static int kernel_launch(void *function, const uint32_t grid[3], const uint32_t block[3],
                         size_t shared_bytes, void *stream, void **args)
{
    return TRY(LaunchKernel, (function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                              (unsigned)shared_bytes, stream, args, NULL));
}

static int code_load(const char *code, const char *const *names, uint32_t count, void **handles)
{
    CUlibrary library = NULL;
    int error = TRY(LibraryLoadData, (&library, code, NULL, NULL, 0, NULL, NULL, 0));
    for (uint32_t k = 0; k < count && !error; k++) {
        CUkernel kernel = NULL;
        error = TRY(LibraryGetKernel, (&kernel, library, names[k]));
        handles[k] = kernel;
    }
    return error;
}

/* The driver has an answer for the default stream only if no other stream is being captured. */
static bool is_capturing(void *stream)
{
    int status = 0;
    return cu.StreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != 0;
}

/* ---- The table ---- */

static const kmm__gpu_names_t names = {
    .Init = "cuInit",
    .DeviceGetCount = "cuDeviceGetCount",
    .DeviceGetName = "cuDeviceGetName",
    .DeviceCanAccessPeer = "cuDeviceCanAccessPeer",
    .MemGetInfo = "cuMemGetInfo_v2",
    .MemAlloc = "cuMemAlloc_v2",
    .MemFree = "cuMemFree_v2",
    .HostRegister = "cuMemHostRegister_v2",
    .HostUnregister = "cuMemHostUnregister",
    .StreamCreate = "cuStreamCreate",
    .StreamDestroy = "cuStreamDestroy_v2",
    .StreamQuery = "cuStreamQuery",
    .StreamSynchronize = "cuStreamSynchronize",
    .StreamWaitEvent = "cuStreamWaitEvent",
    .EventCreate = "cuEventCreate",
    .EventDestroy = "cuEventDestroy_v2",
    .EventRecord = "cuEventRecord",
    .EventQuery = "cuEventQuery",
    .EventElapsedTime = "cuEventElapsedTime",
    .ThreadExchangeStreamCaptureMode = "cuThreadExchangeStreamCaptureMode",
    .Synchronize = "cuCtxSynchronize",
    .MemcpyHtoD = "cuMemcpyHtoDAsync_v2",
    .MemcpyDtoH = "cuMemcpyDtoHAsync_v2",
    .MemcpyDtoD = "cuMemcpyDtoDAsync_v2",
    .MemsetD8 = "cuMemsetD8Async",
    .MemGetAllocationGranularity = "cuMemGetAllocationGranularity",
    .MemAddressReserve = "cuMemAddressReserve",
    .MemAddressFree = "cuMemAddressFree",
    .MemCreate = "cuMemCreate",
    .MemRelease = "cuMemRelease",
    .MemMap = "cuMemMap",
    .MemUnmap = "cuMemUnmap",
    .MemSetAccess = "cuMemSetAccess",
};

static const char *const libraries[] = {"libcuda.so.1", NULL};

static kmm__gpu_driver_t driver = {
    .name = "cuda",
    .product = "CUDA",
    .kind = KMM_KIND_CUDA,
    .libraries = libraries,
    .absent = "libcuda.so.1, the NVIDIA driver's library, is not installed",
    .needed = "12.4",
    .must_map = true,
    .names = &names,
    .load = load,
    .describe = describe,
    .open = device_open,
    .close = device_close,
    .enter = enter,
    .leave = leave,
    .current = current,
    .allow_peer = allow_peer,
    .copy_peer = copy_peer,
    .copy_rows = copy_rows,
    .kernel_load = kernel_load,
    .kernel_allow_shared = kernel_allow_shared,
    .code_load = code_load,
    .is_capturing = is_capturing,
    .kernel_launch = kernel_launch,
};

int kmm__cuda_backend_create(kmm__backend_t **out, const char **reason)
{
    return kmm__gpu_backend_create(&driver, out, reason);
}
