/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA GPUs, through the driver, which is opened when the program runs. The primary contexts are
 * used, so that the program's own CUDA calls see the same memory; a thread's current context is
 * left as it was.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend.h"
#include "cuda_driver.h"

enum { SPIN_NS = 50000, SLEEP_NS = 20000, PLAIN_SHARED_BYTES = 48 << 10 };

typedef struct cuda_backend {
    kmm__backend_t base;
    void *library;
    int count;
    CUcontext context; /* of the first device opened, for calls that need one and care not which */
} cuda_backend_t;

/* The driver's functions; written once, before the first backend is returned. */
static kmm__cuda_driver_t cu;
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct loaded { CUkernel kernel; CUfunction function; size_t shared_bytes; } loaded_t;

struct kmm__event {
    kmm__gpu_t *gpu;
    CUevent handle;
};

typedef struct note {
    void (*fn)(void *arg, int status);
    void *arg;
    CUevent event; /* NULL: there was none to be had, and the note is for when the stream has nothing to do */
    struct note *next;
} note_t;

struct kmm__stream {
    kmm__gpu_t *gpu;
    CUstream handle;
    note_t *first, *last; /* guarded by gpu->lock */
    kmm__stream_t *next;
};

struct kmm__gpu {
    cuda_backend_t *backend;
    CUdevice device;
    CUcontext context;
    int max_pitch;
    pthread_mutex_t load_lock; /* guards the two below */
    loaded_t *loaded;
    int loaded_count;
    /* The thread that watches for the end of work. */
    pthread_t watcher;
    pthread_mutex_t lock;
    pthread_cond_t noted;
    pthread_cond_t delivered;
    kmm__stream_t *streams;
    kmm__stream_t *delivering; /* its note is being delivered, unlocked; not freed meanwhile unless by that delivery */
    int pending; /* notes not delivered */
    bool closing;
    CUevent *spare;
    int spare_count, spare_capacity;
};

/* ---- Errors and contexts ---- */

static _Thread_local char error_text[256] = "no error";

static int code_of(CUresult r)
{
    if (r == CUDA_ERROR_OUT_OF_MEMORY)
        return KMM_E_MEMORY;
    return r >= CUDA_ERROR_ILLEGAL_ADDRESS && r <= CUDA_ERROR_LAUNCH_FAILED ? KMM_E_KERNEL : KMM_E_DEVICE;
}

/* 0, or the error that a driver call means, with its text. */
static int result(CUresult r, const char *call)
{
    const char *name = NULL, *text = NULL;
    if (r == CUDA_SUCCESS)
        return 0;
    cu.GetErrorName(r, &name);
    cu.GetErrorString(r, &text);
    snprintf(error_text, sizeof(error_text), "%s: %s (%s)", call, name ? name : "unknown error", text ? text : "");
    return code_of(r);
}

#define TRY(call, arguments) result(cu.call arguments, "cu" #call)

static bool enter_context(CUcontext context)
{
    CUcontext now = NULL;
    cu.CtxGetCurrent(&now);
    if (now == context)
        return false;
    cu.CtxPushCurrent(context);
    return true;
}

static bool enter(const kmm__gpu_t *gpu)
{
    return enter_context(gpu->context);
}

static void leave(bool entered)
{
    CUcontext context;
    if (entered)
        cu.CtxPopCurrent(&context);
}

static const char *cuda_error_text(kmm__backend_t *b)
{
    (void)b;
    return error_text;
}

/* ---- Watching for the end of work ---- */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Takes the first note of a stream off if its work is over; locked. */
static note_t *take_finished(kmm__gpu_t *gpu, kmm__stream_t *s, int *status)
{
    note_t *n = s->first;
    CUresult r = !n ? CUDA_ERROR_NOT_READY : n->event ? cu.EventQuery(n->event) : cu.StreamQuery(s->handle);
    if (r == CUDA_ERROR_NOT_READY)
        return NULL;
    *status = result(r, "work on the device");
    s->first = n->next;
    if (!s->first)
        s->last = NULL;
    if (n->event && gpu->spare_count == gpu->spare_capacity) {
        int capacity = gpu->spare_capacity ? 2 * gpu->spare_capacity : 64;
        CUevent *grown = realloc(gpu->spare, (size_t)capacity * sizeof(*grown));
        if (!grown) {
            cu.EventDestroy(n->event);
            return n;
        }
        gpu->spare = grown;
        gpu->spare_capacity = capacity;
    }
    if (n->event)
        gpu->spare[gpu->spare_count++] = n->event;
    return n;
}

/* Delivers what has finished; returns whether anything had. Locked, but for the deliveries. */
static bool deliver(kmm__gpu_t *gpu)
{
    bool any = false;
    for (kmm__stream_t *s = gpu->streams; s; s = s->next) {
        int status = 0;
        for (note_t *n; (n = take_finished(gpu, s, &status));) {
            gpu->delivering = s;
            pthread_mutex_unlock(&gpu->lock);
            n->fn(n->arg, status);
            free(n);
            pthread_mutex_lock(&gpu->lock);
            gpu->pending--;
            any = true;
            if (!gpu->delivering)
                return true; /* the delivery destroyed the stream */
            gpu->delivering = NULL;
            pthread_cond_broadcast(&gpu->delivered);
        }
    }
    return any;
}

static void *watch(void *arg)
{
    kmm__gpu_t *gpu = arg;
    uint64_t idle_since = now_ns();
    cu.CtxPushCurrent(gpu->context);
    pthread_mutex_lock(&gpu->lock);
    while (!gpu->closing || gpu->pending) {
        if (!gpu->pending) {
            pthread_cond_wait(&gpu->noted, &gpu->lock);
            idle_since = now_ns();
            continue;
        }
        if (deliver(gpu)) {
            idle_since = now_ns();
            continue;
        }
        pthread_mutex_unlock(&gpu->lock);
        if (now_ns() - idle_since > SPIN_NS)
            nanosleep(&(struct timespec){ 0, SLEEP_NS }, NULL);
        else
            sched_yield(); /* leaves the lock to those who enqueue */
        pthread_mutex_lock(&gpu->lock);
    }
    pthread_mutex_unlock(&gpu->lock);
    return NULL;
}

/* Locked: an event recorded on the stream; NULL when the driver refuses one. */
static CUevent record_note(kmm__gpu_t *gpu, CUstream s)
{
    CUevent event = NULL;
    if (gpu->spare_count)
        event = gpu->spare[--gpu->spare_count];
    else if (cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING))
        return NULL;
    if (cu.EventRecord(event, s) == CUDA_SUCCESS)
        return event;
    cu.EventDestroy(event);
    return NULL;
}

static int cuda_notify(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg)
{
    kmm__gpu_t *gpu = s->gpu;
    note_t *n = malloc(sizeof(*n));
    if (!n)
        return KMM_E_MEMORY;
    *n = (note_t){ .fn = fn, .arg = arg };
    bool entered = enter(gpu);
    pthread_mutex_lock(&gpu->lock);
    n->event = record_note(gpu, s->handle);
    if (s->last)
        s->last->next = n;
    else
        s->first = n;
    s->last = n;
    if (gpu->pending++ == 0)
        pthread_cond_signal(&gpu->noted);
    pthread_mutex_unlock(&gpu->lock);
    leave(entered);
    return 0;
}

/* ---- The driver and its devices ---- */

static int cuda_count(kmm__backend_t *b)
{
    return ((cuda_backend_t *)b)->count;
}

static CUmemAllocationProp frame_properties(const kmm__gpu_t *gpu)
{
    return (CUmemAllocationProp){ .type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = { CU_MEM_LOCATION_TYPE_DEVICE, gpu->device } };
}

static int cuda_open(kmm__backend_t *b, int ordinal, kmm__gpu_t **out)
{
    kmm__gpu_t *gpu = calloc(1, sizeof(*gpu));
    int windows = 0;
    if (!gpu)
        return KMM_E_MEMORY;
    gpu->backend = (cuda_backend_t *)b;
    int error = TRY(DeviceGet, (&gpu->device, ordinal));
    if (!error)
        error = TRY(DeviceGetAttribute, (&windows, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, gpu->device));
    if (!error && !windows) {
        snprintf(error_text, sizeof(error_text), "the device cannot map memory into address space");
        error = KMM_E_UNSUPPORTED;
    }
    if (!error)
        error = TRY(DeviceGetAttribute, (&gpu->max_pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, gpu->device));
    if (!error)
        error = TRY(DevicePrimaryCtxRetain, (&gpu->context, gpu->device));
    if (error) {
        free(gpu);
        return error;
    }
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_mutex_init(&gpu->load_lock, NULL);
    pthread_cond_init(&gpu->noted, NULL);
    pthread_cond_init(&gpu->delivered, NULL);
    if (pthread_create(&gpu->watcher, NULL, watch, gpu)) {
        cu.DevicePrimaryCtxRelease(gpu->device);
        free(gpu);
        return KMM_E_MEMORY;
    }
    if (!gpu->backend->context)
        gpu->backend->context = gpu->context;
    *out = gpu;
    return 0;
}

static void cuda_close(kmm__gpu_t *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    gpu->closing = true;
    pthread_cond_signal(&gpu->noted);
    pthread_mutex_unlock(&gpu->lock);
    pthread_join(gpu->watcher, NULL);
    bool entered = enter(gpu);
    for (int k = 0; k < gpu->spare_count; k++)
        cu.EventDestroy(gpu->spare[k]);
    leave(entered);
    cu.DevicePrimaryCtxRelease(gpu->device);
    pthread_mutex_destroy(&gpu->lock);
    pthread_mutex_destroy(&gpu->load_lock);
    pthread_cond_destroy(&gpu->noted);
    pthread_cond_destroy(&gpu->delivered);
    free(gpu->spare);
    free(gpu->loaded);
    free(gpu);
}

static void cuda_info(kmm__gpu_t *gpu, kmm__gpu_info_t *out)
{
    size_t free_bytes = 0, total = 0, granularity = 2 << 20;
    CUmemAllocationProp properties = frame_properties(gpu);
    bool entered = enter(gpu);
    cu.MemGetInfo(&free_bytes, &total);
    cu.MemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    leave(entered);
    *out = (kmm__gpu_info_t){ .memory_total = total, .memory_free = free_bytes, .granularity = granularity, .lanes = 1 };
    cu.DeviceGetName(out->name, sizeof(out->name), gpu->device);
}

/* ---- The program's own use ---- */

static int cuda_current(kmm__backend_t *b)
{
    CUdevice device = 0;
    (void)b;
    return cu.CtxGetDevice(&device) == CUDA_SUCCESS ? (int)device : 0;
}

static void *cuda_native(kmm__stream_t *s)
{
    return s->handle;
}

static bool cuda_enter(kmm__gpu_t *gpu)
{
    return enter(gpu);
}

static void cuda_unload(kmm__backend_t *b)
{
    free(b); /* the library stays: the program may use it too */
}

/* ---- Windows and frames ---- */

static int cuda_window_reserve(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out)
{
    (void)gpu;
    return TRY(MemAddressReserve, (out, bytes, 0, 0, 0));
}

static void cuda_window_release(kmm__gpu_t *gpu, kmm__addr_t window, size_t bytes)
{
    (void)gpu;
    cu.MemAddressFree(window, bytes);
}

static int cuda_frame_create(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out)
{
    CUmemAllocationProp properties = frame_properties(gpu);
    return TRY(MemCreate, (out, bytes, &properties, 0));
}

static void cuda_frame_destroy(kmm__gpu_t *gpu, kmm__frame_handle_t frame, size_t bytes)
{
    (void)gpu;
    (void)bytes;
    cu.MemRelease(frame);
}

static int set_access(kmm__addr_t at, size_t bytes, const kmm__gpu_t *gpu)
{
    CUmemAccessDesc access = { { CU_MEM_LOCATION_TYPE_DEVICE, gpu->device }, CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    return TRY(MemSetAccess, (at, bytes, &access, 1));
}

static int cuda_frame_map(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes)
{
    int error = TRY(MemMap, (at, bytes, 0, frame, 0));
    if (error)
        return error;
    error = set_access(at, bytes, gpu);
    if (error)
        cu.MemUnmap(at, bytes);
    return error;
}

static int cuda_frame_unmap(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes)
{
    (void)gpu;
    return TRY(MemUnmap, (at, bytes));
}

static int cuda_frame_share(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer)
{
    int can = 0;
    int error = TRY(DeviceCanAccessPeer, (&can, peer->device, gpu->device));
    if (error)
        return error;
    return can ? set_access(at, bytes, peer) : KMM_E_UNSUPPORTED;
}

static int cuda_host_register(kmm__backend_t *b, void *base, size_t bytes)
{
    bool entered = enter_context(((cuda_backend_t *)b)->context);
    CUresult r = cu.MemHostRegister(base, bytes, CU_MEMHOSTREGISTER_PORTABLE);
    leave(entered);
    return r == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED ? KMM_E_STATE : result(r, "cuMemHostRegister");
}

static int cuda_host_unregister(kmm__backend_t *b, void *base)
{
    bool entered = enter_context(((cuda_backend_t *)b)->context);
    int error = TRY(MemHostUnregister, (base));
    leave(entered);
    return error;
}

/* ---- Streams and events ---- */

static int cuda_stream_create(kmm__gpu_t *gpu, kmm__stream_t **out)
{
    kmm__stream_t *s = calloc(1, sizeof(*s));
    if (!s)
        return KMM_E_MEMORY;
    bool entered = enter(gpu);
    int error = TRY(StreamCreate, (&s->handle, CU_STREAM_NON_BLOCKING));
    leave(entered);
    if (error) {
        free(s);
        return error;
    }
    s->gpu = gpu;
    pthread_mutex_lock(&gpu->lock);
    s->next = gpu->streams;
    gpu->streams = s;
    pthread_mutex_unlock(&gpu->lock);
    *out = s;
    return 0;
}

static void cuda_stream_destroy(kmm__stream_t *s)
{
    kmm__gpu_t *gpu = s->gpu;
    pthread_mutex_lock(&gpu->lock);
    /* Whom the last note woke may be here before its delivery has returned. */
    while (gpu->delivering == s && !pthread_equal(pthread_self(), gpu->watcher))
        pthread_cond_wait(&gpu->delivered, &gpu->lock);
    if (gpu->delivering == s)
        gpu->delivering = NULL;
    kmm__stream_t **at = &gpu->streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    pthread_mutex_unlock(&gpu->lock);
    bool entered = enter(gpu);
    cu.StreamDestroy(s->handle);
    leave(entered);
    free(s);
}

static int cuda_event_create(kmm__gpu_t *gpu, kmm__event_t **out)
{
    kmm__event_t *e = calloc(1, sizeof(*e));
    if (!e)
        return KMM_E_MEMORY;
    e->gpu = gpu;
    bool entered = enter(gpu);
    int error = TRY(EventCreate, (&e->handle, CU_EVENT_DISABLE_TIMING));
    leave(entered);
    if (error)
        free(e);
    else
        *out = e;
    return error;
}

static void cuda_event_destroy(kmm__event_t *e)
{
    bool entered = enter(e->gpu);
    cu.EventDestroy(e->handle);
    leave(entered);
    free(e);
}

static int cuda_event_record(kmm__event_t *e, kmm__stream_t *s)
{
    bool entered = enter(s->gpu);
    int error = TRY(EventRecord, (e->handle, s->handle));
    leave(entered);
    return error;
}

static int cuda_stream_wait(kmm__stream_t *s, kmm__event_t *e)
{
    bool entered = enter(s->gpu);
    int error = TRY(StreamWaitEvent, (s->handle, e->handle, 0));
    leave(entered);
    return error;
}

static int cuda_event_query(kmm__event_t *e)
{
    bool entered = enter(e->gpu);
    CUresult r = cu.EventQuery(e->handle);
    leave(entered);
    return r == CUDA_SUCCESS ? 1 : r == CUDA_ERROR_NOT_READY ? 0 : result(r, "cuEventQuery");
}

/* ---- Work ---- */

static int copy_run(CUstream s, const kmm__copy_t *c, int64_t row, size_t bytes)
{
    CUdeviceptr dst = c->dst + (uint64_t)(row * c->dst_pitch), src = c->src + (uint64_t)(row * c->src_pitch);
    if (c->dst_gpu && c->src_gpu && c->dst_gpu != c->src_gpu)
        return TRY(MemcpyPeerAsync, (dst, c->dst_gpu->context, src, c->src_gpu->context, bytes, s));
    if (c->dst_gpu && c->src_gpu)
        return TRY(MemcpyDtoDAsync, (dst, src, bytes, s));
    if (c->dst_gpu)
        return TRY(MemcpyHtoDAsync, (dst, (const void *)(uintptr_t)src, bytes, s));
    return TRY(MemcpyDtoHAsync, ((void *)(uintptr_t)dst, src, bytes, s));
}

/* Rows from one device to another: as a box of depth 1. */
static int copy_rows_peer(const kmm__stream_t *s, const kmm__copy_t *c)
{
    CUDA_MEMCPY3D_PEER m = { .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = c->src, .srcContext = c->src_gpu->context,
                             .srcPitch = (size_t)c->src_pitch, .srcHeight = (size_t)c->rows,
                             .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = c->dst, .dstContext = c->dst_gpu->context,
                             .dstPitch = (size_t)c->dst_pitch, .dstHeight = (size_t)c->rows,
                             .WidthInBytes = (size_t)c->width, .Height = (size_t)c->rows, .Depth = 1 };
    return TRY(Memcpy3DPeerAsync, (&m, s->handle));
}

static int copy_rows(const kmm__stream_t *s, const kmm__copy_t *c)
{
    if (c->dst_gpu && c->src_gpu && c->dst_gpu != c->src_gpu)
        return copy_rows_peer(s, c);
    CUDA_MEMCPY2D m = { .srcPitch = (size_t)c->src_pitch, .dstPitch = (size_t)c->dst_pitch,
                        .WidthInBytes = (size_t)c->width, .Height = (size_t)c->rows };
    m.srcMemoryType = c->src_gpu ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    m.dstMemoryType = c->dst_gpu ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    m.srcHost = (const void *)(uintptr_t)c->src;
    m.srcDevice = c->src;
    m.dstHost = (void *)(uintptr_t)c->dst;
    m.dstDevice = c->dst;
    return TRY(Memcpy2DAsync, (&m, s->handle));
}

static int cuda_copy(kmm__stream_t *s, const kmm__copy_t *c)
{
    int error = 0;
    bool entered = enter(s->gpu);
    if (c->rows == 1)
        error = copy_run(s->handle, c, 0, (size_t)c->width);
    else if (c->dst_pitch == c->width && c->src_pitch == c->width)
        error = copy_run(s->handle, c, 0, (size_t)(c->width * c->rows));
    else if (c->dst_pitch <= s->gpu->max_pitch && c->src_pitch <= s->gpu->max_pitch)
        error = copy_rows(s, c);
    else
        for (int64_t row = 0; row < c->rows && !error; row++)
            error = copy_run(s->handle, c, row, (size_t)c->width);
    leave(entered);
    return error;
}

static int cuda_fill(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes)
{
    bool entered = enter(s->gpu);
    int error = TRY(MemsetD8Async, (dst, (unsigned char)value, bytes, s->handle));
    leave(entered);
    return error;
}

/* The function of a kernel on this device, loaded before the first launch, since lazy loading may
 * synchronize, and allowed the dynamic shared memory of this launch. */
static int load(kmm__gpu_t *gpu, CUkernel kernel, size_t shared_bytes, CUfunction *out)
{
    loaded_t *l = NULL;
    for (int k = 0; k < gpu->loaded_count && !l; k++)
        if (gpu->loaded[k].kernel == kernel)
            l = &gpu->loaded[k];
    if (!l) {
        loaded_t *grown = realloc(gpu->loaded, ((size_t)gpu->loaded_count + 1) * sizeof(*grown));
        if (!grown)
            return KMM_E_MEMORY;
        gpu->loaded = grown;
        l = &grown[gpu->loaded_count];
        *l = (loaded_t){ kernel, NULL, PLAIN_SHARED_BYTES };
        int error = TRY(KernelGetFunction, (&l->function, kernel));
        if (error)
            return error;
        gpu->loaded_count++;
    }
    if (shared_bytes > l->shared_bytes) {
        int error = TRY(KernelSetAttribute, (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared_bytes, kernel, gpu->device));
        if (error)
            return error;
        l->shared_bytes = shared_bytes;
    }
    *out = l->function;
    return 0;
}

static int cuda_launch(kmm__stream_t *s, const kmm__run_t *r)
{
    CUfunction f;
    const uint32_t *n = r->count, *block = r->geometry.block;
    if (!r->kernel || r->kernel->kind != KMM_KIND_CUDA) {
        snprintf(error_text, sizeof(error_text), "%s was not built for CUDA", r->kernel ? r->kernel->name : "a plain function");
        return KMM_E_INVALID;
    }
    bool entered = enter(s->gpu);
    pthread_mutex_lock(&s->gpu->load_lock);
    int error = load(s->gpu, r->kernel->handle, r->geometry.shared_bytes, &f);
    pthread_mutex_unlock(&s->gpu->load_lock);
    if (!error)
        error = TRY(LaunchKernel, (f, n[0], n[1], n[2], block[0], block[1], block[2], (unsigned)r->geometry.shared_bytes, s->handle, r->args, NULL));
    leave(entered);
    return error;
}

/* ---- Loading ---- */

static const kmm__backend_t functions = {
    .name = "cuda", .kind = KMM_KIND_CUDA,
    .count = cuda_count, .open = cuda_open, .close = cuda_close, .info = cuda_info,
    .error_text = cuda_error_text, .unload = cuda_unload,
    .window_reserve = cuda_window_reserve, .window_release = cuda_window_release,
    .frame_create = cuda_frame_create, .frame_destroy = cuda_frame_destroy,
    .frame_map = cuda_frame_map, .frame_unmap = cuda_frame_unmap, .frame_share = cuda_frame_share,
    .host_register = cuda_host_register, .host_unregister = cuda_host_unregister,
    .stream_create = cuda_stream_create, .stream_destroy = cuda_stream_destroy,
    .event_create = cuda_event_create, .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record, .stream_wait = cuda_stream_wait, .event_query = cuda_event_query,
    .current = cuda_current, .native = cuda_native, .enter = cuda_enter, .leave = leave,
    .copy = cuda_copy, .fill = cuda_fill, .launch = cuda_launch, .notify = cuda_notify,
};

static const char *load_symbols(void *library)
{
#define KMM_X(member, symbol, parameters)                                                          \
    *(void **)(&cu.member) = dlsym(library, symbol);                                               \
    if (!cu.member)                                                                                \
        return symbol;
    KMM__CUDA_CALLS(KMM_X)
#undef KMM_X
    return NULL;
}

static int load_driver(cuda_backend_t *b, const char **reason)
{
    b->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!b->library) {
        *reason = "libcuda.so.1, the NVIDIA driver's library, is not installed";
        return KMM_E_NO_DEVICE;
    }
    const char *missing = load_symbols(b->library);
    if (missing) {
        snprintf(error_text, sizeof(error_text), "the driver is too old: it has no %s; 12.4 or newer is needed", missing);
        *reason = error_text;
        return KMM_E_NO_DEVICE;
    }
    CUresult r = cu.Init(0);
    if (r == CUDA_SUCCESS)
        r = cu.DeviceGetCount(&b->count);
    if (r != CUDA_SUCCESS || b->count == 0) {
        result(r != CUDA_SUCCESS ? r : CUDA_ERROR_NO_DEVICE, "cuInit");
        *reason = error_text;
        return KMM_E_NO_DEVICE;
    }
    return 0;
}

int kmm__cuda_backend_create(kmm__backend_t **out, const char **reason)
{
    cuda_backend_t *b = calloc(1, sizeof(*b));
    if (!b)
        return KMM_E_MEMORY;
    pthread_mutex_lock(&load_lock);
    int error = load_driver(b, reason);
    pthread_mutex_unlock(&load_lock);
    if (error) {
        free(b);
        return error;
    }
    b->base = functions;
    *out = &b->base;
    return 0;
}
