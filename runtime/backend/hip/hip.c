/* SPDX-License-Identifier: Apache-2.0 */
/* AMD GPUs: the table of HIP for backend/gpu. HIP has no contexts that are pushed and popped; each
 * thread has a current device. A kernel is named by the host function that stands for it, which HIP
 * resolves for the current device. Older versions and some devices cannot map memory into address
 * space; there an array is allocated whole. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "backend/gpu/gpu.h"
#include "backend/hip/hip_driver.h"

/* The functions that only HIP has. Written when HIP is loaded. */
static kmm__hip_driver_t hip;
static kmm__gpu_driver_t driver;

enum { MAX_NESTED = 16 };

/* Devices that were current before each device that this thread has entered. */
static _Thread_local int outer[MAX_NESTED];
static _Thread_local int nested;

#define TRY(call, arguments) kmm__gpu_result(&driver, hip.call arguments, "hip" #call)

static const char *load(void *library)
{
#define KMM_X(member, symbol, result, parameters)                                                  \
    *(void **)(&hip.member) = dlsym(library, symbol);                                              \
    if (!hip.member)                                                                               \
        return symbol;
    KMM__HIP_CALLS(KMM_X)
#undef KMM_X
    return NULL;
}

static void describe(int r, const char **name, const char **text)
{
    *name = hip.GetErrorName(r);
    *text = hip.GetErrorString(r);
}

static void forget(void)
{
    hip.GetLastError();
}

/* ---- Devices ---- */

/* Partitions of a GPU may be devices of their own, with the same bus and device number. Their
 * functions tell them apart. */
static kmm__pci_t find(int ordinal)
{
    char text[32] = "";
    kmm__pci_t p = {0};
    if (hip.DeviceGetPCIBusId(text, sizeof(text), ordinal) != hipSuccess)
        forget();
    else
        p.known = sscanf(text, "%x:%x:%x.%x", &p.domain, &p.bus, &p.device, &p.function) == 4;
    return p;
}

static int device_open(kmm__gpu_device_t *d)
{
    int before = 0;
    hip.GetDevice(&before);
    int error = TRY(SetDevice, (d->ordinal));
    hip.SetDevice(before);
    d->max_pitch = INT_MAX;
    d->maps = true;
    d->pci = find(d->ordinal);
    return error;
}

static void device_close(kmm__gpu_device_t *d)
{
    (void)d; /* the program may go on using the device */
}

static bool enter(const kmm__gpu_device_t *d)
{
    int now = -1;
    hip.GetDevice(&now);
    if (now == d->ordinal || nested == MAX_NESTED)
        return false;
    outer[nested++] = now;
    hip.SetDevice(d->ordinal);
    return true;
}

static void leave(bool entered)
{
    if (entered)
        hip.SetDevice(outer[--nested]);
}

static int current(void)
{
    int now = 0;
    return hip.GetDevice(&now) == hipSuccess ? now : 0;
}

static int allow_peer(const kmm__gpu_device_t *d, const kmm__gpu_device_t *peer)
{
    (void)peer; /* it is current */
    int r = hip.DeviceEnablePeerAccess(d->ordinal, 0);
    if (r == KMM__GPU_PEER_ALREADY_ENABLED) {
        forget();
        return 0;
    }
    return kmm__gpu_result(&driver, r, "hipDeviceEnablePeerAccess");
}

/* ---- Work ---- */

static void *pointer(kmm__addr_t at)
{
    return (void *)(uintptr_t)at;
}

static int copy_peer(void *stream, kmm__addr_t dst, const kmm__gpu_device_t *to, kmm__addr_t src,
                     const kmm__gpu_device_t *from, size_t bytes)
{
    return TRY(MemcpyPeerAsync,
               (pointer(dst), to->ordinal, pointer(src), from->ordinal, bytes, stream));
}

/* HIP has no copy of rows that names two devices, so rows between devices are copied one by one. */
static int copy_rows(void *stream, const kmm__copy_t *c, const kmm__gpu_device_t *to,
                     const kmm__gpu_device_t *from)
{
    int error = 0;
    bool peers = to && from && to != from;
    for (int64_t k = 0; k < c->rows && peers && !error; k++)
        error = copy_peer(stream, c->dst + (kmm__addr_t)(k * c->dst_pitch), to,
                          c->src + (kmm__addr_t)(k * c->src_pitch), from, (size_t)c->width);
    if (peers)
        return error;
    return TRY(Memcpy2DAsync,
               (pointer(c->dst), (size_t)c->dst_pitch, pointer(c->src), (size_t)c->src_pitch,
                (size_t)c->width, (size_t)c->rows, hipMemcpyDefault, stream));
}

static int kernel_load(void *handle, void **function)
{
    *function = handle;
    return 0;
}

static int kernel_allow_shared(void *handle, size_t bytes, const kmm__gpu_device_t *d)
{
    (void)d; /* it is current */
    return TRY(FuncSetAttribute, (handle, KMM__GPU_MAX_DYNAMIC_SHARED, (int)bytes));
}

static int kernel_launch(void *function, const uint32_t grid[3], const uint32_t block[3],
                         size_t shared_bytes, void *stream, void **args)
{
    hip_dim3_t g = {grid[0], grid[1], grid[2]}, b = {block[0], block[1], block[2]};
    return TRY(LaunchKernel, (function, g, b, args, shared_bytes, stream));
}

/* ---- The table ---- */

static const kmm__gpu_names_t names = {
    .Init = "hipInit",
    .DeviceGetCount = "hipGetDeviceCount",
    .DeviceGetName = "hipDeviceGetName",
    .DeviceCanAccessPeer = "hipDeviceCanAccessPeer",
    .MemGetInfo = "hipMemGetInfo",
    .MemAlloc = "hipMalloc",
    .MemFree = "hipFree",
    .HostRegister = "hipHostRegister",
    .HostUnregister = "hipHostUnregister",
    .StreamCreate = "hipStreamCreateWithFlags",
    .StreamDestroy = "hipStreamDestroy",
    .StreamQuery = "hipStreamQuery",
    .StreamSynchronize = "hipStreamSynchronize",
    .StreamWaitEvent = "hipStreamWaitEvent",
    .EventCreate = "hipEventCreateWithFlags",
    .EventDestroy = "hipEventDestroy",
    .EventRecord = "hipEventRecord",
    .EventQuery = "hipEventQuery",
    .EventElapsedTime = "hipEventElapsedTime",
    .ThreadExchangeStreamCaptureMode = "hipThreadExchangeStreamCaptureMode",
    .Synchronize = "hipDeviceSynchronize",
    .MemcpyHtoD = "hipMemcpyHtoDAsync",
    .MemcpyDtoH = "hipMemcpyDtoHAsync",
    .MemcpyDtoD = "hipMemcpyDtoDAsync",
    .MemsetD8 = "hipMemsetD8Async",
    .MemGetAllocationGranularity = "hipMemGetAllocationGranularity",
    .MemAddressReserve = "hipMemAddressReserve",
    .MemAddressFree = "hipMemAddressFree",
    .MemCreate = "hipMemCreate",
    .MemRelease = "hipMemRelease",
    .MemMap = "hipMemMap",
    .MemUnmap = "hipMemUnmap",
    .MemSetAccess = "hipMemSetAccess",
};

static const char *const libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                        NULL};
static const kmm__gpu_folder_t folders[] = {
    {"ROCM_PATH", "/lib"}, {NULL, "/opt/rocm/lib"}, {NULL, NULL}};

static kmm__gpu_driver_t driver = {
    .name = "hip",
    .product = "HIP",
    .kind = KMM_KIND_HIP,
    .libraries = libraries,
    .folders = folders,
    .absent = "libamdhip64.so.7, .6 or .5, ROCm's HIP runtime, is not installed",
    .needed = "ROCm 5.2",
    .must_map = false,
    .rows_in_a_frame = true,
    .names = &names,
    .load = load,
    .describe = describe,
    .forget = forget,
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
    .kernel_launch = kernel_launch,
};

int kmm__hip_backend_create(kmm__backend_t **out, const char **reason)
{
    return kmm__gpu_backend_create(&driver, out, reason);
}
