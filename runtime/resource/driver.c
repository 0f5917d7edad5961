/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of the devices, CUDA's or HIP's: opens its library at first use, looks up its calls,
 * and retains the devices' primary contexts. */
#include "resource/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static kmm__driver_t driver;
static bool found;
static char missing[256]; /* the reason why there is no driver */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(CUcontext)
    contexts[KMM__MAX_DEVICES]; /* primary contexts, retained until the process ends */

/* ---- HIP calls that differ from CUDA's ---- */

enum { HIP_COPY_DEFAULT = 4, HIP_DEPTH = 16 };
static struct {
    const char *(*GetErrorName)(int);
    int (*GetDevice)(int *);
    int (*SetDevice)(int);
    int (*GetLastError)(void);
    int (*DeviceEnablePeerAccess)(int, unsigned);
    int (*MemPrefetchAsync)(const void *, size_t, int, void *);
    int (*MemcpyAsync)(void *, const void *, size_t, int, void *);
} hip;

/* HIP has no contexts: a thread has one device current. A context here is the device's number plus
 * one. hip_below is this thread's stack of devices that were current before. */
static _Thread_local int hip_below[HIP_DEPTH], hip_depth;

static CUcontext hip_context(int device)
{
    return (CUcontext)(intptr_t)(device + 1);
}

static CUresult hip_error_name(CUresult result, const char **out)
{
    *out = hip.GetErrorName(result);
    return CUDA_SUCCESS;
}

static CUresult hip_device(CUdevice *out, int ordinal)
{
    *out = ordinal;
    return CUDA_SUCCESS;
}

static CUresult hip_retain(CUcontext *out, CUdevice device)
{
    *out = hip_context(device);
    return CUDA_SUCCESS;
}

static CUresult hip_push(CUcontext context)
{
    if (hip_depth == HIP_DEPTH)
        return CUDA_ERROR_INVALID_DEVICE;
    CUresult result = hip.GetDevice(&hip_below[hip_depth]);
    if (!result)
        result = hip.SetDevice((int)(intptr_t)context - 1);
    hip_depth += result == CUDA_SUCCESS;
    return result;
}

static CUresult hip_pop(CUcontext *out)
{
    *out = NULL;
    return hip_depth ? hip.SetDevice(hip_below[--hip_depth]) : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult hip_current(CUcontext *out)
{
    int device = 0;
    CUresult result = hip.GetDevice(&device);
    *out = hip_context(device);
    return result;
}

/* Enables peer access. If it was enabled already, HIP leaves an error, which the program would find
 * later: it is taken back. */
static CUresult hip_enable_peer(CUcontext owner, unsigned flags)
{
    CUresult result = hip.DeviceEnablePeerAccess((int)(intptr_t)owner - 1, flags);
    if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        hip.GetLastError();
    return result;
}

static CUresult hip_prefetch(CUdeviceptr p, size_t bytes, CUmemLocation to, unsigned flags,
                             CUstream stream)
{
    (void)flags;
    return hip.MemPrefetchAsync((const void *)(uintptr_t)p, bytes, to.id, stream);
}

static CUresult hip_copy(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    return hip.MemcpyAsync((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes,
                           HIP_COPY_DEFAULT, stream);
}

static void hip_adapt(void *library)
{
    *(void **)&hip.GetErrorName = dlsym(library, "hipGetErrorName");
    *(void **)&hip.GetDevice = dlsym(library, "hipGetDevice");
    *(void **)&hip.SetDevice = dlsym(library, "hipSetDevice");
    *(void **)&hip.GetLastError = dlsym(library, "hipGetLastError");
    *(void **)&hip.DeviceEnablePeerAccess = dlsym(library, "hipDeviceEnablePeerAccess");
    *(void **)&hip.MemPrefetchAsync = dlsym(library, "hipMemPrefetchAsync");
    *(void **)&hip.MemcpyAsync = dlsym(library, "hipMemcpyAsync");
    driver.GetErrorName = hip_error_name;
    driver.DeviceGet = hip_device;
    driver.DevicePrimaryCtxRetain = hip_retain;
    driver.CtxPushCurrent = hip_push;
    driver.CtxPopCurrent = hip_pop;
    driver.CtxGetCurrent = hip_current;
    driver.CtxEnablePeerAccess = hip_enable_peer;
    driver.MemPrefetchAsync = hip_prefetch;
    driver.MemcpyAsync = hip_copy;
}

/* ---- Opening ---- */

/* The calls in the order of driver.h: those that are always needed, then those for mapping memory.
 */
static const struct {
    const char *cuda, *hip;
    bool needed;
} symbols[] = {
#define KMM_X(member, cuda, hip, parameters) {cuda, hip, true},
    KMM__DRIVER_CALLS(KMM_X)
#undef KMM_X
#define KMM_X(member, cuda, hip, parameters) {cuda, hip, false},
        KMM__DRIVER_MAP_CALLS(KMM_X)
#undef KMM_X
};

static void *member_of(size_t i)
{
    void *const members[] = {
#define KMM_X(member, cuda, hip, parameters) &driver.member,
        KMM__DRIVER_CALLS(KMM_X) KMM__DRIVER_MAP_CALLS(KMM_X)
#undef KMM_X
    };
    return members[i];
}

/* Looks up all calls. False: one that is needed is missing, and `missing` names it. */
static bool resolve(void *library, bool is_hip)
{
    driver.maps = true;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
        const char *symbol = is_hip ? symbols[i].hip : symbols[i].cuda;
        void *address = dlsym(library, symbol);
        *(void **)member_of(i) = address;
        driver.maps = driver.maps && address;
        if (!address && symbols[i].needed) {
            snprintf(missing, sizeof(missing), "the %s is too old: it lacks %s",
                     is_hip ? "HIP runtime" : "NVIDIA driver", symbol);
            return false;
        }
    }
    driver.is_hip = is_hip;
    if (is_hip)
        hip_adapt(library);
    return true;
}

static bool has_devices(const char *whose)
{
    if (driver.Init(0) == CUDA_SUCCESS && driver.DeviceGetCount(&driver.devices) == CUDA_SUCCESS &&
        driver.devices > 0)
        return true;
    snprintf(missing, sizeof(missing), "the %s finds no device", whose);
    return false;
}

static bool open_cuda(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library && resolve(library, false) && has_devices("NVIDIA driver");
}

/* Opens the HIP runtime that the program has loaded already, since its streams and pools belong to
 * that one. If there is none, opens the newest. */
static bool open_hip(void)
{
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
    const size_t count = sizeof(names) / sizeof(*names);
    void *library = NULL;
    for (size_t i = 0; i < 2 * count && !library; i++)
        library = dlopen(names[i % count], RTLD_NOW | RTLD_LOCAL | (i < count ? RTLD_NOLOAD : 0));
    return library && resolve(library, true) && has_devices("HIP runtime");
}

static void load(void)
{
    snprintf(missing, sizeof(missing),
             "neither libcuda.so.1, the NVIDIA driver's library, nor libamdhip64.so.7, .6 or .5, "
             "ROCm's HIP runtime, is installed");
    found = open_cuda() || open_hip();
    if (driver.devices > KMM__MAX_DEVICES)
        driver.devices = KMM__MAX_DEVICES;
}

const kmm__driver_t *kmm__driver(void)
{
    pthread_once(&once, load);
    if (found)
        return &driver;
    kmm__resource_fail(KMM_E_NO_DEVICE, "%s", missing);
    return NULL;
}

/* Returns the name that the loaded driver has for a call of CUDA. */
static const char *name_of(const char *call)
{
    const size_t length = strlen(call);
    for (size_t i = 0; driver.is_hip && i < sizeof(symbols) / sizeof(*symbols); i++)
        if (strncmp(symbols[i].cuda, call, length) == 0 &&
            (symbols[i].cuda[length] == '\0' || symbols[i].cuda[length] == '_'))
            return symbols[i].hip;
    return call;
}

int kmm__driver_check(CUresult result, const char *call, int device)
{
    const char *name = NULL;
    /* When a process ends, the driver and its memory may be gone before libkmm. */
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED)
        return 0;
    driver.GetErrorName(result, &name);
    int code = result == CUDA_ERROR_OUT_OF_MEMORY ? KMM_E_MEMORY : KMM_E_DEVICE;
    return kmm__resource_fail(code, "%s on device %d: %s", name_of(call), device,
                              name ? name : "unknown error");
}

static CUresult retain(int device)
{
    CUdevice d;
    CUcontext context = NULL;
    pthread_mutex_lock(&contexts_lock);
    CUresult result = CUDA_SUCCESS;
    if (!atomic_load(&contexts[device])) {
        result = driver.DeviceGet(&d, device);
        if (!result)
            result = driver.DevicePrimaryCtxRetain(&context, d);
        if (!result)
            atomic_store_explicit(&contexts[device], context, memory_order_release);
    }
    pthread_mutex_unlock(&contexts_lock);
    return result;
}

static int check_device(int device)
{
    if (!kmm__driver())
        return KMM_E_NO_DEVICE;
    if (device < 0 || device >= driver.devices)
        return kmm__resource_fail(KMM_E_NO_DEVICE, "there is no device %d; there are %d", device,
                                  driver.devices);
    return 0;
}

/* While a program captures a graph, calls that allocate or that ask for progress fail in all
 * threads and invalidate the graph. In the relaxed mode they do not. `depth` counts nested calls of
 * this thread; `mode` is the program's own mode. */
static _Thread_local struct {
    int depth, mode;
} outside;

static void capture_relax(void)
{
    if (outside.depth++)
        return;
    outside.mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    driver.ThreadExchangeStreamCaptureMode(&outside.mode);
}

static void capture_restore(void)
{
    if (--outside.depth == 0)
        driver.ThreadExchangeStreamCaptureMode(&outside.mode);
}

static int make_current(int device)
{
    const int wrong = check_device(device);
    if (wrong)
        return wrong;
    CUcontext context = atomic_load_explicit(&contexts[device], memory_order_acquire);
    if (!context) {
        int status = kmm__driver_check(retain(device), "cuDevicePrimaryCtxRetain", device);
        if (status)
            return status;
        context = atomic_load(&contexts[device]);
    }
    return context ? kmm__driver_check(driver.CtxPushCurrent(context), "cuCtxPushCurrent", device)
                   : KMM_E_DEVICE;
}

int kmm__driver_enter(int device)
{
    const int status = make_current(device);
    if (status == 0)
        capture_relax();
    return status;
}

void kmm__driver_leave(void)
{
    CUcontext context;
    capture_restore();
    driver.CtxPopCurrent(&context);
}

int kmm__driver_settle(int device)
{
    int status = kmm__driver_enter(device);
    if (status)
        return status;
    status = kmm__driver_check(driver.CtxSynchronize(), "cuCtxSynchronize", device);
    kmm__driver_leave();
    return status;
}

void kmm__driver_settle_in(int device)
{
    CUcontext context = NULL;
    if (kmm__driver() && !driver.is_hip && driver.CtxGetCurrent(&context) == CUDA_SUCCESS &&
        !context)
        make_current(device);
}

int kmm__driver_current_device(void)
{
    CUcontext context = NULL;
    CUdevice device;
    if (!kmm__driver() || driver.CtxGetCurrent(&context) || !context ||
        driver.CtxGetDevice(&device))
        return -1;
    return device;
}

/* ---- Devices that reach each other's memory ---- */

int kmm__driver_can_reach(int device, int owner)
{
    CUdevice a, b;
    int can = 0, status = check_device(device);
    status = status ? status : check_device(owner);
    if (status)
        return status;
    CUresult result = driver.DeviceGet(&a, device);
    if (!result)
        result = driver.DeviceGet(&b, owner);
    status = kmm__driver_check(result ? result : driver.DeviceCanAccessPeer(&can, a, b),
                               "cuDeviceCanAccessPeer", device);
    if (status || can)
        return status;
    return kmm__resource_fail(KMM_E_UNSUPPORTED, "device %d cannot reach memory of device %d",
                              device, owner);
}

int kmm__driver_open_to(int device, int owner)
{
    int status = kmm__driver_enter(owner); /* creates the owner's context */
    if (status)
        return status;
    kmm__driver_leave();
    status = kmm__driver_enter(device);
    if (status)
        return status;
    CUresult result = driver.CtxEnablePeerAccess(atomic_load(&contexts[owner]), 0);
    if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        result = CUDA_SUCCESS;
    status = kmm__driver_check(result, "cuCtxEnablePeerAccess", device);
    kmm__driver_leave();
    return status;
}

/* ---- Events ---- */

int kmm__driver_check_capture(kmm_stream_t stream)
{
    int capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = driver.StreamIsCapturing(stream, &capture);
    if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        return kmm__resource_fail(
            KMM_E_STATE, "a stream that the default one waits for is being captured into a graph");
    if (result || capture == CU_STREAM_CAPTURE_STATUS_NONE)
        return 0; /* other errors are reported by the next call */
    return kmm__resource_fail(KMM_E_STATE, "stream %p is being captured into a graph", stream);
}

static int device_of(void *context)
{
    return (int)(intptr_t)context;
}

static int event_create(void *context, void **event)
{
    int device = device_of(context), status = kmm__driver_enter(device);
    if (status)
        return status;
    CUevent e = NULL;
    status =
        kmm__driver_check(driver.EventCreate(&e, CU_EVENT_DISABLE_TIMING), "cuEventCreate", device);
    kmm__driver_leave();
    *event = e;
    return status;
}

static void event_destroy(void *context, void *event)
{
    if (kmm__driver_enter(device_of(context)))
        return;
    driver.EventDestroy(event);
    kmm__driver_leave();
}

static int event_record(void *context, void *event, kmm_stream_t stream)
{
    int device = device_of(context), status = kmm__driver_enter(device);
    if (status)
        return status;
    status = kmm__driver_check_capture(stream); /* in a captured graph, streams that wait for the
                                                   event would become part of the graph */
    if (status == 0)
        status = kmm__driver_check(driver.EventRecord(event, stream), "cuEventRecord", device);
    kmm__driver_leave();
    return status;
}

static int stream_wait(void *context, kmm_stream_t stream, void *event)
{
    int device = device_of(context), status = kmm__driver_enter(device);
    if (status)
        return status;
    status =
        kmm__driver_check_capture(stream); /* a wait inside a capture would invalidate the graph */
    if (status == 0)
        status = kmm__driver_check(driver.StreamWaitEvent(stream, event, 0), "cuStreamWaitEvent",
                                   device);
    kmm__driver_leave();
    return status;
}

static int event_query(void *context, void *event)
{
    int device = device_of(context), status = kmm__driver_enter(device);
    if (status)
        return status;
    CUresult result = driver.EventQuery(event);
    kmm__driver_leave();
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED)
        return 1;
    return result == CUDA_ERROR_NOT_READY ? 0 : kmm__driver_check(result, "cuEventQuery", device);
}

static int event_wait(void *context, void *event)
{
    int device = device_of(context), status = kmm__driver_enter(device);
    if (status)
        return status;
    status = kmm__driver_check(driver.EventSynchronize(event), "cuEventSynchronize", device);
    kmm__driver_leave();
    return status;
}

const kmm_stream_order_t *kmm__driver_order(int device)
{
    static kmm_stream_order_t orders[KMM__MAX_DEVICES];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!orders[device].event_create)
        orders[device] = (kmm_stream_order_t){(void *)(intptr_t)device,
                                              event_create,
                                              event_destroy,
                                              event_record,
                                              stream_wait,
                                              event_query,
                                              event_wait};
    pthread_mutex_unlock(&lock);
    return &orders[device];
}
