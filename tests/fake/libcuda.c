/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda.so.1 over host memory: asynchronous, and strict where the real one is lenient.
 * One lock guards everything; it is not held while an operation works on memory.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/cuda_driver.h"
#include "fake_cuda.h"

enum { MAX_DEVICES = 16, MAX_STACK = 64, MAX_ARGUMENTS = 32, PLAIN_SHARED = 48 << 10, MOST_SHARED = 227 << 10, PITCH_LIMIT = 1 << 20 };
static const size_t GRANULE = 2 << 20;

enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, ALREADY_MAPPED = 208 };

struct CUctx_st { int device, references; CUresult lost; size_t used; };

typedef struct frame { int fd, device, mapped; size_t bytes; } frame_t;
typedef struct window { char *base; size_t bytes; int mapped; struct window *next; } window_t;
typedef struct mapping { char *at; size_t bytes; frame_t *frame; unsigned access; struct mapping *next; } mapping_t;
typedef struct registration { void *base; size_t bytes; struct registration *next; } registration_t;

struct CUevent_st { int device, references; uint64_t recorded, done; };

typedef struct range { const char *at; size_t bytes; bool device; } range_t;

typedef enum work { COPY, FILL, KERNEL, RECORD, WAIT } work_t;

typedef struct op {
    work_t work;
    struct op *next;
    bool fails; /* by KMM_FAKE_FAIL */
    range_t dst, src;
    size_t width, rows, dst_pitch, src_pitch;
    int value;
    fake_kernel_t *kernel;
    uint32_t grid[3];
    void *args[MAX_ARGUMENTS];
    CUevent event;
    uint64_t sequence;
} op_t;

struct CUstream_st {
    struct CUctx_st *context;
    pthread_t thread;
    op_t *first, *last; /* first stays until it has run */
    bool closing;
    struct CUstream_st *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct CUctx_st contexts[MAX_DEVICES];
static int device_count = -1;
static size_t memory = 256 << 20;
static window_t *windows;
static mapping_t *mappings;
static registration_t *registrations;
static struct CUstream_st *streams;
static unsigned long allocs, copies, launches;
static _Thread_local CUcontext stack[MAX_STACK];
static _Thread_local int depth;

#define FAKE __attribute__((visibility("default"))) CUresult

FAKE cuEventSynchronize(CUevent e);

static _Noreturn void broken(const char *what)
{
    fprintf(stderr, "fake libcuda: %s\n", what);
    abort();
}

/* Whether this call, counted, is the one that KMM_FAKE_FAIL names. */
static bool must_fail(const char *what, unsigned long *count)
{
    const char *text = getenv("KMM_FAKE_FAIL");
    size_t n = strlen(what);
    ++*count;
    return text && strncmp(text, what, n) == 0 && text[n] == ':' && strtoul(text + n + 1, NULL, 10) == *count;
}

/* ---- Devices and contexts ---- */

FAKE cuInit(unsigned flags)
{
    const char *n = getenv("KMM_FAKE_DEVICES"), *m = getenv("KMM_FAKE_MEM");
    if (flags)
        return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    device_count = n ? atoi(n) : 2;
    memory = m ? strtoull(m, NULL, 10) : memory;
    for (int k = 0; k < MAX_DEVICES; k++)
        contexts[k].device = k;
    allocs = copies = launches = 0;
    pthread_mutex_unlock(&lock);
    return device_count > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

typedef struct name { CUresult code; const char *name, *text; } name_t;
static const name_t names[] = {
    { INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
    { INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
    { CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered" },
    { CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "already registered" },
    { CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" },
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
    return n ? CUDA_SUCCESS : INVALID_VALUE;
}

FAKE cuGetErrorString(CUresult r, const char **out)
{
    const name_t *n = name_of(r);
    *out = n ? n->text : NULL;
    return n ? CUDA_SUCCESS : INVALID_VALUE;
}

FAKE cuDeviceGetCount(int *out)
{
    *out = device_count;
    return device_count < 0 ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
}

static bool is_device(CUdevice d)
{
    return d >= 0 && d < device_count;
}

FAKE cuDeviceGet(CUdevice *out, int ordinal)
{
    *out = ordinal;
    return is_device(ordinal) ? CUDA_SUCCESS : INVALID_DEVICE;
}

FAKE cuDeviceGetName(char *out, int bytes, CUdevice d)
{
    snprintf(out, (size_t)bytes, "Fake GPU %d", d);
    return is_device(d) ? CUDA_SUCCESS : INVALID_DEVICE;
}

FAKE cuDeviceGetAttribute(int *out, int attribute, CUdevice d)
{
    if (!is_device(d))
        return INVALID_DEVICE;
    *out = attribute == CU_DEVICE_ATTRIBUTE_MAX_PITCH ? PITCH_LIMIT : attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    return CUDA_SUCCESS;
}

FAKE cuDeviceTotalMem_v2(size_t *out, CUdevice d)
{
    *out = memory;
    return is_device(d) ? CUDA_SUCCESS : INVALID_DEVICE;
}

FAKE cuDeviceCanAccessPeer(int *out, CUdevice a, CUdevice b)
{
    *out = a != b;
    return is_device(a) && is_device(b) ? CUDA_SUCCESS : INVALID_DEVICE;
}

FAKE cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice d)
{
    if (!is_device(d))
        return INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    contexts[d].references++;
    pthread_mutex_unlock(&lock);
    *out = &contexts[d];
    return CUDA_SUCCESS;
}

/* The last release ends the context, and with it what it was lost with. */
FAKE cuDevicePrimaryCtxRelease_v2(CUdevice d)
{
    pthread_mutex_lock(&lock);
    if (!is_device(d) || contexts[d].references == 0)
        broken("a primary context is released that nobody holds");
    if (--contexts[d].references == 0) {
        for (struct CUstream_st *s = streams; s; s = s->next)
            if (s->context == &contexts[d])
                broken("a context ends while it has streams");
        contexts[d].lost = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

FAKE cuCtxPushCurrent_v2(CUcontext c)
{
    if (depth == MAX_STACK)
        broken("contexts are pushed and never popped");
    stack[depth++] = c;
    return CUDA_SUCCESS;
}

FAKE cuCtxPopCurrent_v2(CUcontext *out)
{
    if (depth == 0)
        return INVALID_CONTEXT;
    *out = stack[--depth];
    return CUDA_SUCCESS;
}

FAKE cuCtxGetCurrent(CUcontext *out)
{
    *out = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

FAKE cuCtxGetDevice(CUdevice *out)
{
    *out = depth ? stack[depth - 1]->device : -1;
    return depth ? CUDA_SUCCESS : INVALID_CONTEXT;
}

static CUcontext current(void)
{
    return depth && stack[depth - 1]->references ? stack[depth - 1] : NULL;
}

FAKE cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    CUcontext c = current();
    if (!c)
        return INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    *total = memory;
    *free_bytes = memory - c->used;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* ---- Windows and frames ---- */

FAKE cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *p, int option)
{
    *out = GRANULE;
    return p->type == CU_MEM_ALLOCATION_TYPE_PINNED && option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ? CUDA_SUCCESS : INVALID_VALUE;
}

static bool is_whole(size_t bytes)
{
    return bytes > 0 && bytes % GRANULE == 0;
}

FAKE cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t alignment, CUdeviceptr hint, unsigned long long flags)
{
    (void)alignment, (void)hint;
    if (!is_whole(bytes) || flags)
        return INVALID_VALUE;
    char *p = mmap(NULL, bytes + GRANULE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t before = (GRANULE - (uintptr_t)p % GRANULE) % GRANULE;
    if (before)
        munmap(p, before);
    munmap(p + before + bytes, GRANULE - before);
    window_t *w = malloc(sizeof(*w));
    pthread_mutex_lock(&lock);
    *w = (window_t){ p + before, bytes, 0, windows };
    windows = w;
    pthread_mutex_unlock(&lock);
    *out = (CUdeviceptr)(uintptr_t)w->base;
    return CUDA_SUCCESS;
}

FAKE cuMemAddressFree(CUdeviceptr at, size_t bytes)
{
    pthread_mutex_lock(&lock);
    window_t **p = &windows, *w;
    while (*p && (*p)->base != (char *)(uintptr_t)at)
        p = &(*p)->next;
    w = *p;
    if (!w || w->bytes != bytes)
        broken("address space is freed that was not reserved so");
    if (w->mapped)
        broken("address space is freed that has memory mapped in it");
    *p = w->next;
    munmap(w->base, w->bytes);
    free(w);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

FAKE cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes, const CUmemAllocationProp *p, unsigned long long flags)
{
    if (!is_whole(bytes) || flags || p->type != CU_MEM_ALLOCATION_TYPE_PINNED || p->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        !is_device(p->location.id))
        return INVALID_VALUE;
    CUcontext c = &contexts[p->location.id];
    pthread_mutex_lock(&lock);
    bool full = must_fail("alloc", &allocs) || bytes > memory - c->used;
    c->used += full ? 0 : bytes;
    pthread_mutex_unlock(&lock);
    if (full)
        return CUDA_ERROR_OUT_OF_MEMORY;
    frame_t *f = malloc(sizeof(*f));
    *f = (frame_t){ memfd_create("frame", MFD_CLOEXEC), p->location.id, 0, bytes };
    if (f->fd < 0 || ftruncate(f->fd, (off_t)bytes))
        broken("no memory for a frame");
    *out = (CUmemGenericAllocationHandle)(uintptr_t)f;
    return CUDA_SUCCESS;
}

FAKE cuMemRelease(CUmemGenericAllocationHandle h)
{
    frame_t *f = (frame_t *)(uintptr_t)h;
    pthread_mutex_lock(&lock);
    if (f->mapped)
        broken("memory is released that is mapped");
    contexts[f->device].used -= f->bytes;
    pthread_mutex_unlock(&lock);
    close(f->fd);
    free(f);
    return CUDA_SUCCESS;
}

static bool overlap(const char *a, size_t an, const char *b, size_t bn)
{
    return a < b + bn && b < a + an;
}

static window_t *window_of(const char *at, size_t bytes)
{
    for (window_t *w = windows; w; w = w->next)
        if (at >= w->base && at + bytes <= w->base + w->bytes)
            return w;
    return NULL;
}

FAKE cuMemMap(CUdeviceptr to, size_t bytes, size_t offset, CUmemGenericAllocationHandle h, unsigned long long flags)
{
    char *at = (char *)(uintptr_t)to;
    frame_t *f = (frame_t *)(uintptr_t)h;
    CUresult r = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    window_t *w = window_of(at, bytes);
    if (!w || to % GRANULE || bytes != f->bytes || offset || flags)
        r = INVALID_VALUE;
    for (mapping_t *m = mappings; m; m = m->next)
        if (overlap(m->at, m->bytes, at, bytes))
            r = ALREADY_MAPPED;
    if (!r) {
        mapping_t *m = malloc(sizeof(*m));
        *m = (mapping_t){ at, bytes, f, 0, mappings };
        mappings = m;
        f->mapped++;
        w->mapped++;
        if (mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, f->fd, 0) == MAP_FAILED)
            broken("mmap failed");
    }
    pthread_mutex_unlock(&lock);
    return r;
}

FAKE cuMemSetAccess(CUdeviceptr to, size_t bytes, const CUmemAccessDesc *access, size_t count)
{
    CUresult r = INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (mapping_t *m = mappings; m; m = m->next) {
        if (m->at != (char *)(uintptr_t)to || m->bytes != bytes)
            continue;
        r = CUDA_SUCCESS;
        for (size_t k = 0; k < count; k++) {
            if (access[k].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE || !is_device(access[k].location.id))
                r = INVALID_VALUE;
            else
                m->access |= 1u << access[k].location.id;
        }
        mprotect(m->at, m->bytes, m->access ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
    pthread_mutex_unlock(&lock);
    return r;
}

/* Whether an enqueued operation may touch the mapping: a kernel may touch the window that an argument points into. */
static bool op_uses(const op_t *o, const mapping_t *m)
{
    if (o->work == COPY || o->work == FILL)
        return overlap(o->dst.at, o->dst.bytes, m->at, m->bytes) || (o->work == COPY && overlap(o->src.at, o->src.bytes, m->at, m->bytes));
    if (o->work != KERNEL)
        return false;
    const window_t *w = window_of(m->at, m->bytes);
    for (uint32_t k = 0; k < o->kernel->parameters; k++)
        for (size_t b = 0; b + sizeof(char *) <= o->kernel->parameter_bytes[k]; b += sizeof(char *)) {
            const char *p;
            memcpy(&p, (const char *)o->args[k] + b, sizeof(p));
            if (window_of(p, 1) == w)
                return true;
        }
    return false;
}

FAKE cuMemUnmap(CUdeviceptr from, size_t bytes)
{
    pthread_mutex_lock(&lock);
    mapping_t **p = &mappings, *m;
    while (*p && (*p)->at != (char *)(uintptr_t)from)
        p = &(*p)->next;
    m = *p;
    if (!m || m->bytes != bytes)
        broken("memory is unmapped that is not mapped so");
    for (struct CUstream_st *s = streams; s; s = s->next)
        for (op_t *o = s->first; o; o = o->next)
            if (op_uses(o, m))
                broken("memory is unmapped that enqueued work uses");
    *p = m->next;
    m->frame->mapped--;
    window_of(m->at, bytes)->mapped--;
    mmap(m->at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    free(m);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

FAKE cuMemHostRegister_v2(void *base, size_t bytes, unsigned flags)
{
    CUresult r = flags == CU_MEMHOSTREGISTER_PORTABLE && bytes ? CUDA_SUCCESS : INVALID_VALUE;
    if (!current())
        return INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    for (registration_t *g = registrations; g; g = g->next)
        if (overlap(g->base, g->bytes, base, bytes))
            r = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (!r) {
        registration_t *g = malloc(sizeof(*g));
        *g = (registration_t){ base, bytes, registrations };
        registrations = g;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

FAKE cuMemHostUnregister(void *base)
{
    CUresult r = INVALID_VALUE;
    if (!current())
        return INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    for (registration_t **p = &registrations, *g; (g = *p); p = &g->next)
        if (g->base == base) {
            *p = g->next;
            free(g);
            r = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&lock);
    return r;
}

/* ---- Streams ---- */

/* Whether the device may use all of a range; locked. */
static bool is_accessible(const range_t *r, int device)
{
    const char *at = r->at, *end = r->at + r->bytes;
    if (r->device && fake_is_allocated(r->at, r->bytes))
        return true;
    while (r->device && at < end) {
        const mapping_t *m = mappings;
        while (m && !(at >= m->at && at < m->at + m->bytes))
            m = m->next;
        if (!m || !(m->access & 1u << device))
            return false;
        at = m->at + m->bytes;
    }
    return true;
}

static CUresult run_kernel(const op_t *o)
{
    CUresult r = CUDA_SUCCESS;
    for (uint32_t z = 0; z < o->grid[2]; z++)
        for (uint32_t y = 0; y < o->grid[1]; y++)
            for (uint32_t x = 0; x < o->grid[0] && !r; x++)
                r = o->kernel->run((uint32_t[3]){ x, y, z }, o->grid, (void **)o->args);
    return r;
}

static CUresult run(const op_t *o)
{
    char *dst = (char *)o->dst.at;
    if (o->work == KERNEL)
        return run_kernel(o);
    if (o->work == FILL)
        memset(dst, o->value, o->width);
    for (size_t row = 0; o->work == COPY && row < o->rows; row++)
        memmove(dst + row * o->dst_pitch, o->src.at + row * o->src_pitch, o->width);
    return CUDA_SUCCESS;
}

static void release_event(CUevent e)
{
    if (--e->references == 0)
        free(e);
}

/* Locked, but for the work itself. */
static void perform(struct CUstream_st *s, op_t *o)
{
    CUcontext c = s->context;
    if (o->work == RECORD && o->event->done < o->sequence)
        o->event->done = o->sequence;
    while (o->work == WAIT && o->event->done < o->sequence)
        pthread_cond_wait(&changed, &lock);
    if (o->work == RECORD || o->work == WAIT) {
        release_event(o->event);
        return;
    }
    CUresult r = c->lost;
    if (!r && o->fails)
        r = o->work == KERNEL ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_ILLEGAL_ADDRESS;
    if (!r && (!is_accessible(&o->dst, c->device) || !is_accessible(&o->src, c->device)))
        r = CUDA_ERROR_ILLEGAL_ADDRESS;
    if (r) {
        c->lost = r;
        return;
    }
    pthread_mutex_unlock(&lock);
    r = run(o);
    pthread_mutex_lock(&lock);
    if (r)
        c->lost = r;
}

static void *serve(void *arg)
{
    struct CUstream_st *s = arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!s->first && !s->closing)
            pthread_cond_wait(&changed, &lock);
        op_t *o = s->first;
        if (!o)
            break;
        perform(s, o);
        s->first = o->next;
        if (!s->first)
            s->last = NULL;
        for (int k = 0; k < MAX_ARGUMENTS; k++)
            free(o->args[k]);
        free(o);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static CUresult enqueue(CUstream s, const op_t *model)
{
    op_t *o = malloc(sizeof(*o));
    *o = *model;
    if (s->last)
        s->last->next = o;
    else
        s->first = o;
    s->last = o;
    pthread_cond_broadcast(&changed);
    return CUDA_SUCCESS;
}

/* The default stream, NULL, does its work at once. */
static CUresult enqueue_work(CUstream s, op_t o, const char *kind, unsigned long *count)
{
    if (!s)
        return current() ? run(&o) : INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    CUresult r = current() != s->context ? INVALID_CONTEXT : s->context->lost;
    if (!r) {
        o.fails = must_fail(kind, count);
        enqueue(s, &o);
    }
    pthread_mutex_unlock(&lock);
    return r;
}

FAKE cuStreamCreate(CUstream *out, unsigned flags)
{
    if (!current())
        return INVALID_CONTEXT;
    if (flags != CU_STREAM_NON_BLOCKING)
        return INVALID_VALUE;
    CUstream s = calloc(1, sizeof(*s));
    s->context = current();
    pthread_mutex_lock(&lock);
    s->next = streams;
    streams = s;
    pthread_mutex_unlock(&lock);
    pthread_create(&s->thread, NULL, serve, s);
    *out = s;
    return CUDA_SUCCESS;
}

FAKE cuStreamDestroy_v2(CUstream s)
{
    pthread_mutex_lock(&lock);
    s->closing = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(s->thread, NULL);
    pthread_mutex_lock(&lock);
    CUstream *p = &streams;
    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    pthread_mutex_unlock(&lock);
    free(s);
    return CUDA_SUCCESS;
}

/* ---- Events ---- */

FAKE cuEventCreate(CUevent *out, unsigned flags)
{
    if (!current())
        return INVALID_CONTEXT;
    if (flags != CU_EVENT_DISABLE_TIMING)
        return INVALID_VALUE;
    CUevent e = calloc(1, sizeof(*e));
    e->device = current()->device;
    e->references = 1;
    *out = e;
    return CUDA_SUCCESS;
}

FAKE cuEventDestroy_v2(CUevent e)
{
    pthread_mutex_lock(&lock);
    release_event(e);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

FAKE cuEventRecord(CUevent e, CUstream s)
{
    if (!s)
        return current() ? CUDA_SUCCESS : INVALID_CONTEXT; /* nothing is ever left to do there */
    pthread_mutex_lock(&lock);
    CUresult r = e->device != s->context->device ? INVALID_CONTEXT : s->context->lost;
    if (!r) {
        e->references++;
        enqueue(s, &(op_t){ .work = RECORD, .event = e, .sequence = ++e->recorded });
    }
    pthread_mutex_unlock(&lock);
    return r;
}

FAKE cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    if (!s)
        return cuEventSynchronize(e);
    pthread_mutex_lock(&lock);
    CUresult r = flags ? INVALID_VALUE : s->context->lost;
    if (!r) {
        e->references++;
        enqueue(s, &(op_t){ .work = WAIT, .event = e, .sequence = e->recorded });
    }
    pthread_mutex_unlock(&lock);
    return r;
}

FAKE cuEventQuery(CUevent e)
{
    pthread_mutex_lock(&lock);
    CUresult r = contexts[e->device].lost;
    if (!r && e->done < e->recorded)
        r = CUDA_ERROR_NOT_READY;
    pthread_mutex_unlock(&lock);
    return r;
}

FAKE cuEventSynchronize(CUevent e)
{
    pthread_mutex_lock(&lock);
    for (uint64_t sequence = e->recorded; e->done < sequence;)
        pthread_cond_wait(&changed, &lock);
    CUresult r = contexts[e->device].lost;
    pthread_mutex_unlock(&lock);
    return r;
}

static bool is_idle(void)
{
    for (const struct CUstream_st *s = streams; s; s = s->next)
        if (s->first)
            return false;
    return true;
}

void fake_settle(void)
{
    pthread_mutex_lock(&lock);
    while (!is_idle())
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

FAKE cuStreamSynchronize(CUstream s)
{
    pthread_mutex_lock(&lock);
    while (s && s->first)
        pthread_cond_wait(&changed, &lock);
    CUresult r = s ? s->context->lost : CUDA_SUCCESS;
    pthread_mutex_unlock(&lock);
    return r;
}

/* ---- Work ---- */

static CUresult copy(const char *dst, bool dst_device, const char *src, bool src_device, size_t bytes, CUstream s)
{
    return enqueue_work(s, (op_t){ .work = COPY, .dst = { dst, bytes, dst_device }, .src = { src, bytes, src_device },
                                   .width = bytes, .rows = 1 }, "copy", &copies);
}

FAKE cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream s)
{
    bool to = fake_is_allocated((void *)(uintptr_t)dst, bytes), from = fake_is_allocated((void *)(uintptr_t)src, bytes);
    return copy((char *)(uintptr_t)dst, to, (char *)(uintptr_t)src, from, bytes, s);
}

FAKE cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream s)
{
    return copy((char *)(uintptr_t)dst, true, src, false, bytes, s);
}

FAKE cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream s)
{
    return copy(dst, false, (char *)(uintptr_t)src, true, bytes, s);
}

FAKE cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream s)
{
    return copy((char *)(uintptr_t)dst, true, (char *)(uintptr_t)src, true, bytes, s);
}

FAKE cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context, size_t bytes, CUstream s)
{
    if (!dst_context || !src_context)
        return INVALID_VALUE;
    return copy((char *)(uintptr_t)dst, true, (char *)(uintptr_t)src, true, bytes, s);
}

FAKE cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *m, CUstream s)
{
    if (!m->dstContext || !m->srcContext || m->Depth != 1 || m->WidthInBytes > m->dstPitch || m->WidthInBytes > m->srcPitch)
        return INVALID_VALUE;
    const char *dst = (char *)(uintptr_t)m->dstDevice, *src = (char *)(uintptr_t)m->srcDevice;
    return enqueue_work(s, (op_t){ .work = COPY, .dst = { dst, (m->Height - 1) * m->dstPitch + m->WidthInBytes, true },
                                   .src = { src, (m->Height - 1) * m->srcPitch + m->WidthInBytes, true },
                                   .width = m->WidthInBytes, .rows = m->Height, .dst_pitch = m->dstPitch, .src_pitch = m->srcPitch },
                        "copy", &copies);
}

FAKE cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *m, CUstream s)
{
    bool to = m->dstMemoryType == CU_MEMORYTYPE_DEVICE, from = m->srcMemoryType == CU_MEMORYTYPE_DEVICE;
    const char *dst = to ? (char *)(uintptr_t)m->dstDevice : m->dstHost, *src = from ? (char *)(uintptr_t)m->srcDevice : m->srcHost;
    if (m->WidthInBytes > m->dstPitch || m->WidthInBytes > m->srcPitch || m->dstPitch > PITCH_LIMIT || m->srcPitch > PITCH_LIMIT ||
        m->srcXInBytes || m->srcY || m->dstXInBytes || m->dstY)
        return INVALID_VALUE;
    if (!m->Height || !m->WidthInBytes)
        return CUDA_SUCCESS;
    return enqueue_work(s, (op_t){ .work = COPY, .dst = { dst, (m->Height - 1) * m->dstPitch + m->WidthInBytes, to },
                                   .src = { src, (m->Height - 1) * m->srcPitch + m->WidthInBytes, from },
                                   .width = m->WidthInBytes, .rows = m->Height, .dst_pitch = m->dstPitch, .src_pitch = m->srcPitch },
                        "copy", &copies);
}

FAKE cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t bytes, CUstream s)
{
    return enqueue_work(s, (op_t){ .work = FILL, .dst = { (char *)(uintptr_t)dst, bytes, true }, .width = bytes, .value = value },
                        "copy", &copies);
}

FAKE cuKernelGetFunction(CUfunction *out, CUkernel kernel)
{
    *out = (CUfunction)(void *)kernel;
    return current() ? CUDA_SUCCESS : INVALID_CONTEXT;
}

FAKE cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice d)
{
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > MOST_SHARED || !is_device(d))
        return INVALID_VALUE;
    ((fake_kernel_t *)(void *)kernel)->shared_limit = value;
    return CUDA_SUCCESS;
}

FAKE cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                    CUstream s, void **args, void **extra)
{
    fake_kernel_t *k = (fake_kernel_t *)(void *)f;
    op_t o = { .work = KERNEL, .kernel = k, .grid = { gx, gy, gz } };
    unsigned limit = k->shared_limit ? (unsigned)k->shared_limit : PLAIN_SHARED;
    if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || shared > limit || extra || k->parameters > MAX_ARGUMENTS)
        return INVALID_VALUE;
    for (uint32_t i = 0; i < k->parameters; i++) {
        o.args[i] = malloc(k->parameter_bytes[i]);
        memcpy(o.args[i], args[i], k->parameter_bytes[i]);
    }
    CUresult r = enqueue_work(s, o, "launch", &launches);
    for (int i = 0; r && i < MAX_ARGUMENTS; i++)
        free(o.args[i]);
    return r;
}
