/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

static kmm__driver_t driver;
static const char *missing; /* why there is no driver; NULL: there is one */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(CUcontext) contexts[KMM__MAX_DEVICES]; /* retained for good */

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        missing = "libcuda.so.1, the NVIDIA driver's library, is not installed";
        return;
    }
#define KMM_X(member, symbol, parameters)                                                          \
    *(void **)(&driver.member) = dlsym(library, symbol);                                           \
    if (!driver.member) {                                                                          \
        missing = "the NVIDIA driver is too old: it lacks " symbol;                                \
        return;                                                                                    \
    }
    KMM__DRIVER_CALLS(KMM_X)
#undef KMM_X
    if (driver.Init(0) || driver.DeviceGetCount(&driver.devices) || driver.devices < 1)
        missing = "the NVIDIA driver finds no device";
    if (driver.devices > KMM__MAX_DEVICES)
        driver.devices = KMM__MAX_DEVICES;
}

const kmm__driver_t *kmm__driver(void)
{
    pthread_once(&once, load);
    if (!missing)
        return &driver;
    kmm__resource_fail(KMM_E_NO_DEVICE, "%s", missing);
    return NULL;
}

int kmm__driver_check(CUresult result, const char *call, int device)
{
    const char *name = NULL;
    /* At the end of a process the driver may be gone before us, and its memory with it. */
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED)
        return 0;
    driver.GetErrorName(result, &name);
    int code = result == CUDA_ERROR_OUT_OF_MEMORY ? KMM_E_MEMORY : KMM_E_DEVICE;
    return kmm__resource_fail(code, "%s on device %d: %s", call, device, name ? name : "unknown error");
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

int kmm__driver_enter(int device)
{
    if (!kmm__driver())
        return KMM_E_NO_DEVICE;
    if (device < 0 || device >= driver.devices)
        return kmm__resource_fail(KMM_E_NO_DEVICE, "there is no device %d; there are %d", device, driver.devices);
    CUcontext context = atomic_load_explicit(&contexts[device], memory_order_acquire);
    if (!context) {
        int status = kmm__driver_check(retain(device), "cuDevicePrimaryCtxRetain", device);
        if (status)
            return status;
        context = atomic_load(&contexts[device]);
    }
    return context ? kmm__driver_check(driver.CtxPushCurrent(context), "cuCtxPushCurrent", device) : KMM_E_DEVICE;
}

void kmm__driver_leave(void)
{
    CUcontext context;
    driver.CtxPopCurrent(&context);
}

int kmm__driver_current_device(void)
{
    CUcontext context = NULL;
    CUdevice device;
    if (!kmm__driver() || driver.CtxGetCurrent(&context) || !context || driver.CtxGetDevice(&device))
        return -1;
    return device;
}

/* ---- Events ---- */

static int device_of(void *context) { return (int)(intptr_t)context; }

static int event_create(void *context, void **event)
{
    int device = device_of(context), status = kmm__driver_enter(device);
    if (status)
        return status;
    CUevent e = NULL;
    status = kmm__driver_check(driver.EventCreate(&e, CU_EVENT_DISABLE_TIMING), "cuEventCreate", device);
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
    status = kmm__driver_check(driver.EventRecord(event, stream), "cuEventRecord", device);
    kmm__driver_leave();
    return status;
}

static int stream_wait(void *context, kmm_stream_t stream, void *event)
{
    int device = device_of(context), status = kmm__driver_enter(device);
    if (status)
        return status;
    status = kmm__driver_check(driver.StreamWaitEvent(stream, event, 0), "cuStreamWaitEvent", device);
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
        orders[device] = (kmm_stream_order_t){ (void *)(intptr_t)device, event_create, event_destroy, event_record,
                                               stream_wait, event_query, event_wait };
    pthread_mutex_unlock(&lock);
    return &orders[device];
}
