/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libamdhip64.so: the HIP calls of the backend, on the machine of fake.h. With FAKE_NO_MAPPING it
 * is one that cannot map memory into address space, with FAKE_OLD one that has no copies between
 * devices. A kernel is known by its host function, here the address of a fake_kernel_t.
 */
#include <stdio.h>

#include "backend/gpu/driver.h"
#include "backend/hip/hip_driver.h"
#include "fake.h"
#include "program.h"

const char *fake_driver = "hip";

static _Thread_local int device; /* current for this thread */
static _Thread_local int last_error;

#define FAKE FAKE_EXPORT hipError_t

static int sticky(int r)
{
    return last_error = r ? r : last_error, r;
}

/* ---- Errors ---- */

typedef struct name {
    int code;
    const char *name, *text;
} name_t;
static const name_t names[] = {
    {FAKE_OK, "hipSuccess", "no error"},
    {FAKE_INVALID_VALUE, "hipErrorInvalidValue", "invalid argument"},
    {FAKE_NO_MEMORY, "hipErrorOutOfMemory", "out of memory"},
    {FAKE_NO_DEVICE, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {FAKE_INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal"},
    {FAKE_INVALID_CONTEXT, "hipErrorInvalidContext", "invalid device context"},
    {FAKE_ILLEGAL_ADDRESS, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {FAKE_ALREADY_REGISTERED, "hipErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {FAKE_LAUNCH_FAILED, "hipErrorLaunchFailure", "unspecified launch failure"},
    {FAKE_CAPTURE_UNSUPPORTED, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {FAKE_CAPTURE_INVALIDATED, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {KMM__GPU_PEER_ALREADY_ENABLED, "hipErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
};

static const name_t *name_of(int r)
{
    static const name_t unknown = {FAKE_UNKNOWN, "hipErrorUnknown", "unknown error"};
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (names[k].code == r)
            return &names[k];
    return &unknown;
}

FAKE_EXPORT const char *hipGetErrorName(hipError_t r)
{
    return name_of(r)->name;
}
FAKE_EXPORT const char *hipGetErrorString(hipError_t r)
{
    return name_of(r)->text;
}

FAKE hipGetLastError(void)
{
    int r = last_error;
    last_error = FAKE_OK;
    return r;
}

/* ---- Devices ---- */

FAKE hipInit(unsigned flags)
{
    return flags ? FAKE_INVALID_VALUE : fake_start();
}

FAKE hipGetDeviceCount(int *out)
{
    *out = fake_count();
    return *out < 0 ? FAKE_NOT_INITIALIZED : FAKE_OK;
}

FAKE hipSetDevice(int ordinal)
{
    if (!fake_is_device(ordinal))
        return sticky(FAKE_INVALID_DEVICE);
    device = ordinal;
    return FAKE_OK;
}

FAKE hipGetDevice(int *out)
{
    *out = device;
    return FAKE_OK;
}

FAKE hipDeviceGetName(char *out, int bytes, int ordinal)
{
    snprintf(out, (size_t)bytes, "Fake GPU %d", ordinal);
    return fake_is_device(ordinal) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

FAKE hipDeviceGetPCIBusId(char *out, int bytes, int ordinal)
{
    unsigned at[4];
    if (!fake_is_device(ordinal) || !fake_pci(ordinal, at))
        return sticky(fake_is_device(ordinal) ? FAKE_INVALID_VALUE : FAKE_INVALID_DEVICE);
    int n = snprintf(out, (size_t)bytes, "%04x:%02x:%02x.%x", at[0], at[1], at[2], at[3]);
    return n < bytes ? FAKE_OK : sticky(FAKE_INVALID_VALUE);
}

FAKE hipDeviceCanAccessPeer(int *out, int a, int b)
{
    *out = a != b;
    return fake_is_device(a) && fake_is_device(b) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

FAKE hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    static bool enabled[FAKE_MAX_DEVICES][FAKE_MAX_DEVICES];
    if (!fake_is_device(peer) || peer == device || flags)
        return sticky(FAKE_INVALID_DEVICE);
    pthread_mutex_lock(&fake_lock);
    bool again = enabled[device][peer];
    enabled[device][peer] = true;
    pthread_mutex_unlock(&fake_lock);
    return sticky(again ? KMM__GPU_PEER_ALREADY_ENABLED : FAKE_OK);
}

/* Mapped or allocated: it is the same memory. */
FAKE hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    pthread_mutex_lock(&fake_lock);
    *total = fake_memory();
    *free_bytes = fake_memory() - fake_devices[device].used - fake_allocated(device);
    pthread_mutex_unlock(&fake_lock);
    return FAKE_OK;
}

/* ---- Memory ---- */

FAKE hipMalloc(void **out, size_t bytes)
{
    return sticky(fake_allocate(device, bytes, NULL, out));
}

FAKE hipFree(void *p)
{
    return p ? fake_free(p) : FAKE_OK;
}

FAKE hipHostRegister(void *base, size_t bytes, unsigned flags)
{
    return sticky(flags == KMM__GPU_REGISTER_PORTABLE ? fake_register(base, bytes)
                                                      : FAKE_INVALID_VALUE);
}

FAKE hipHostUnregister(void *base)
{
    return sticky(fake_unregister(base));
}

#ifndef FAKE_NO_MAPPING
FAKE hipMemGetAllocationGranularity(size_t *out, const kmm__gpu_allocation_t *p, int option)
{
    *out = fake_granule();
    if (fake_setting("WHOLE")) /* as devices answer that cannot map memory */
        return sticky(KMM__GPU_NOT_SUPPORTED);
    return p->type == KMM__GPU_ALLOCATION_PINNED && option == KMM__GPU_GRANULARITY_MINIMUM
               ? FAKE_OK
               : FAKE_INVALID_VALUE;
}

FAKE hipMemAddressReserve(void **out, size_t bytes, size_t alignment, void *hint,
                          unsigned long long flags)
{
    (void)alignment, (void)hint;
    return sticky(flags ? FAKE_INVALID_VALUE : fake_reserve(bytes, (char **)out));
}

FAKE hipMemAddressFree(void *at, size_t bytes)
{
    return sticky(fake_unreserve(at, bytes));
}

FAKE hipMemCreate(fake_frame_t **out, size_t bytes, const kmm__gpu_allocation_t *p,
                  unsigned long long flags)
{
    if (flags || p->type != KMM__GPU_ALLOCATION_PINNED ||
        p->location.type != KMM__GPU_LOCATION_DEVICE)
        return sticky(FAKE_INVALID_VALUE);
    return sticky(fake_frame_create(p->location.id, bytes, out));
}

FAKE hipMemRelease(fake_frame_t *f)
{
    return sticky(fake_frame_release(f));
}

FAKE hipMemMap(void *at, size_t bytes, size_t offset, fake_frame_t *f, unsigned long long flags)
{
    return sticky(offset || flags ? FAKE_INVALID_VALUE : fake_map(at, bytes, f));
}

FAKE hipMemSetAccess(void *at, size_t bytes, const kmm__gpu_access_t *access, size_t count)
{
    if (count != 1 || access->flags != KMM__GPU_ACCESS_READ_WRITE ||
        access->location.type != KMM__GPU_LOCATION_DEVICE)
        return sticky(FAKE_INVALID_VALUE);
    return sticky(fake_allow(at, bytes, &access->location.id, 1));
}

FAKE hipMemUnmap(void *at, size_t bytes)
{
    return sticky(fake_unmap(at, bytes));
}
#endif

/* ---- Streams and events ---- */

FAKE hipStreamCreateWithFlags(fake_stream_t **out, unsigned flags)
{
    return sticky(flags <= KMM__GPU_STREAM_NON_BLOCKING ? fake_stream_create(device, !flags, out)
                                                        : FAKE_INVALID_VALUE);
}

FAKE hipStreamDestroy(fake_stream_t *s)
{
    return sticky(fake_stream_destroy(s));
}
FAKE hipStreamQuery(fake_stream_t *s)
{
    return sticky(fake_stream_query(s));
}

FAKE hipStreamWaitEvent(fake_stream_t *s, fake_event_t *e, unsigned flags)
{
    return sticky(flags ? FAKE_INVALID_VALUE : fake_stream_wait(s, e));
}

FAKE hipEventCreateWithFlags(fake_event_t **out, unsigned flags)
{
    return sticky(flags & ~(unsigned)KMM__GPU_EVENT_DISABLE_TIMING
                      ? FAKE_INVALID_VALUE
                      : fake_event_create(device, !flags, out));
}

FAKE hipEventDestroy(fake_event_t *e)
{
    return sticky(fake_event_destroy(e));
}
FAKE hipEventRecord(fake_event_t *e, fake_stream_t *s)
{
    return sticky(fake_event_record(e, s));
}
FAKE hipEventQuery(fake_event_t *e)
{
    return sticky(fake_event_query(e));
}

FAKE hipEventElapsedTime(float *ms, fake_event_t *from, fake_event_t *to)
{
    return sticky(fake_event_elapsed(ms, from, to));
}

FAKE hipThreadExchangeStreamCaptureMode(int *mode)
{
    return sticky(fake_capture_exchange(mode));
}

/* ---- Work ---- */

static int copy(void *dst, bool to, int to_device, const void *src, bool from, int from_device,
                size_t bytes, fake_stream_t *s)
{
    if ((to && fake_is_absent(dst, bytes)) || (from && fake_is_absent(src, bytes)))
        return sticky(FAKE_INVALID_VALUE);
    return sticky(fake_enqueue_copy(
        device, s,
        &(fake_copy_t){dst, src, to, from, to_device, from_device, bytes, 1, bytes, bytes}));
}

FAKE hipMemcpyHtoDAsync(void *dst, void *src, size_t bytes, fake_stream_t *s)
{
    return copy(dst, true, device, src, false, device, bytes, s);
}

FAKE hipMemcpyDtoHAsync(void *dst, void *src, size_t bytes, fake_stream_t *s)
{
    return copy(dst, false, device, src, true, device, bytes, s);
}

FAKE hipMemcpyDtoDAsync(void *dst, void *src, size_t bytes, fake_stream_t *s)
{
    return copy(dst, true, device, src, true, device, bytes, s);
}

#ifndef FAKE_OLD
FAKE hipMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t bytes,
                        fake_stream_t *s)
{
    if (!fake_is_device(to) || !fake_is_device(from))
        return sticky(FAKE_INVALID_DEVICE);
    return copy(dst, true, to, src, true, from, bytes, s);
}
#endif

/* Rows of a device that are looked for in one piece of its memory, as ROCm 6.2 and later do. */
static bool are_in_one(const void *at, size_t pitch, size_t width, size_t rows)
{
    size_t bytes = (rows - 1) * pitch + width;
    return fake_is_one(at, bytes) && !fake_is_absent(at, bytes);
}

FAKE hipMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                      size_t rows, int kind, fake_stream_t *s)
{
    bool to = fake_is_devices(dst), from = fake_is_devices(src);
    if (kind != hipMemcpyDefault || width > dst_pitch || width > src_pitch)
        return sticky(FAKE_INVALID_VALUE);
    if (rows && ((to && !are_in_one(dst, dst_pitch, width, rows)) ||
                 (from && !are_in_one(src, src_pitch, width, rows))))
        return sticky(FAKE_INVALID_VALUE);
    return sticky(fake_enqueue_copy(
        device, s,
        &(fake_copy_t){dst, src, to, from, device, device, width, rows, dst_pitch, src_pitch}));
}

FAKE hipMemsetD8Async(void *dst, unsigned char value, size_t bytes, fake_stream_t *s)
{
    return sticky(fake_is_absent(dst, bytes) ? FAKE_INVALID_VALUE
                                             : fake_enqueue_fill(device, s, dst, value, bytes));
}

FAKE hipFuncSetAttribute(const void *function, int attribute, int value)
{
    if (attribute != KMM__GPU_MAX_DYNAMIC_SHARED || value > FAKE_MOST_SHARED)
        return sticky(FAKE_INVALID_VALUE);
    fake_program_kernel(function)->shared_limit = value;
    return FAKE_OK;
}

FAKE hipLaunchKernel(const void *function, hip_dim3_t g, hip_dim3_t b, void **args, size_t shared,
                     fake_stream_t *s)
{
    const uint32_t grid[3] = {g.x, g.y, g.z}, block[3] = {b.x, b.y, b.z};
    return sticky(fake_enqueue_kernel(device, s, fake_program_kernel(function), grid, block,
                                      (unsigned)shared, args));
}
