/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of a program for the CPU target: one, or as many as KMM_DEVICES=host:4,mem=64M asks
 * for. Their numbers are those of device(n) in a pragma. A thread that has chosen a device launches
 * its unannotated kernels there. Data moves to any device that uses it. Memory belongs to a device
 * only in the sense that the device was current when it was allocated.
 */
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "launch/placement.h"
#include "managed/managed.h"
#include "memory/array.h"

/* This thread's device; -1: it has chosen none. Then it is on device 0, as in CUDA, and libkmm
 * chooses the devices of its launches. */
static _Thread_local int chosen = -1;

/* A stream or an event: the device that was current when it was created. */
typedef struct handle {
    int device;
    bool is_untimed;
} handle_t;

/* For each device, one bit for each device that it may access. */
static _Atomic uint32_t reach[KMM__MAX_DEVICES];

static const kmm__device_t *device_at(const kmm_runtime_t *rt, int device)
{
    for (uint32_t k = 0; rt && k < rt->visible_count && device >= 0; k++)
        if (rt->device[k]->backend->kind == KMM_KIND_HOST && device-- == 0)
            return rt->device[k];
    return NULL;
}

static int device_count(const kmm_runtime_t *rt)
{
    int count = 0;
    while (device_at(rt, count))
        count++;
    return count > 0 ? count : 1; /* the CPU is a device even if KMM_DEVICES names only GPUs */
}

static bool is_device(int device)
{
    return device >= 0 && device < device_count(kmm_default());
}

KMM__API int kmm_cuda_device_count(int *count)
{
    if (!count)
        return kmm__managed_note(KMM_CUDA_INVALID_VALUE);
    *count = device_count(kmm_default());
    return KMM_CUDA_SUCCESS;
}

KMM__API int kmm_cuda_device_set(int device)
{
    if (!is_device(device))
        return kmm__managed_note(KMM_CUDA_INVALID_DEVICE);
    kmm_runtime_t *rt = kmm_default();
    chosen = device;
    if (rt && device_count(rt) > 1)
        kmm__device_choose(rt, device);
    return KMM_CUDA_SUCCESS;
}

KMM__API int kmm_cuda_device_current(void)
{
    return chosen < 0 ? 0 : chosen;
}

/* ---- Memory ---- */

static uint64_t allocated_on(const kmm_runtime_t *rt, int device)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < rt->memory->array_count; k++) {
        const kmm__array_t *a = rt->memory->arrays[k];
        if (!a->is_mapped && !a->object.is_abstract && a->owner == device)
            bytes += a->bytes;
    }
    return bytes;
}

KMM__API int kmm_cuda_device_info(int device, kmm_cuda_device_info_t *out)
{
    kmm_runtime_t *rt = kmm_default();
    if (!out || !is_device(device))
        return kmm__managed_note(KMM_CUDA_INVALID_DEVICE);
    *out = (kmm_cuda_device_info_t){"", 0, 0};
    const kmm__device_t *d = device_at(rt, device);
    if (!d || d->space == KMM__HOST)
        return KMM_CUDA_SUCCESS;
    snprintf(out->name, sizeof(out->name), "%s", d->info.name);
    pthread_mutex_lock(&rt->lock);
    uint64_t used = allocated_on(rt, device);
    out->memory_bytes = d->memory->limit;
    out->free_bytes = used < d->memory->limit ? d->memory->limit - used : 0;
    pthread_mutex_unlock(&rt->lock);
    return KMM_CUDA_SUCCESS;
}

void kmm__device_allocated(void *base)
{
    kmm_runtime_t *rt = kmm_default();
    if (chosen <= 0 || !base)
        return;
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, base);
    if (a)
        a->owner = (uint16_t)chosen;
    pthread_mutex_unlock(&rt->lock);
}

KMM__API int kmm_cuda_pointer_device(const void *address)
{
    kmm_runtime_t *rt = kmm_default();
    if (!rt)
        return -1;
    pthread_mutex_lock(&rt->lock);
    const kmm__array_t *a = kmm__array_find(rt, address);
    int device = a && !a->is_mapped ? (int)a->owner : -1;
    pthread_mutex_unlock(&rt->lock);
    return device;
}

/* ---- Host memory that kernels use directly ---- */

static void *common; /* tree of the addresses that cudaMallocHost and similar calls have returned */
static pthread_mutex_t common_lock = PTHREAD_MUTEX_INITIALIZER;

static int by_address(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

KMM__API int kmm_cuda_malloc_common(void **out, size_t bytes)
{
    enum { PAGE = 4096 };
    if (!out)
        return kmm__managed_fail(KMM_CUDA_INVALID_VALUE,
                                 "cudaMallocHost: nowhere to put the address");
    *out = bytes < SIZE_MAX - PAGE ? aligned_alloc(PAGE, (bytes + PAGE) / PAGE * PAGE) : NULL;
    pthread_mutex_lock(&common_lock);
    bool ok = *out && tsearch(*out, &common, by_address);
    pthread_mutex_unlock(&common_lock);
    if (ok)
        return KMM_CUDA_SUCCESS;
    free(*out);
    *out = NULL;
    return kmm__managed_note(KMM_CUDA_MEMORY_ALLOCATION);
}

KMM__API int kmm_cuda_free_common(void *p)
{
    if (!p)
        return KMM_CUDA_SUCCESS;
    pthread_mutex_lock(&common_lock);
    bool found = tdelete(p, &common, by_address) != NULL;
    pthread_mutex_unlock(&common_lock);
    if (!found)
        return kmm__managed_fail(KMM_CUDA_INVALID_VALUE,
                                 "cudaFree or cudaFreeHost of an address that is no allocation's");
    int error = kmm_cuda_device_settle();
    free(p);
    return error;
}

/* ---- Streams and events ---- */

void *kmm__handle_create(void)
{
    handle_t *h = malloc(sizeof(*h));
    if (h)
        *h = (handle_t){kmm_cuda_device_current(), false};
    return h;
}

/* Returns the device of a stream or event. Handles that are constants, such as cudaStreamPerThread,
 * belong to the current device. */
static int device_of(const void *handle)
{
    enum { NUMBERS = 16 };
    return (uintptr_t)handle < NUMBERS ? kmm_cuda_device_current()
                                       : ((const handle_t *)handle)->device;
}

KMM__API int kmm_cuda_handle_device(const void *handle)
{
    return device_of(handle);
}

KMM__API int kmm_cuda_event_create_untimed(void **out)
{
    int error = kmm_cuda_event_create(out);
    if (!error)
        ((handle_t *)*out)->is_untimed = true;
    return error;
}

KMM__API int kmm_cuda_event_elapsed_timed(float *milliseconds, void *start, void *end)
{
    if (!start || !end)
        return kmm__managed_fail(KMM_CUDA_INVALID_RESOURCE_HANDLE,
                                 "cudaEventElapsedTime: no event");
    if (((const handle_t *)start)->is_untimed || ((const handle_t *)end)->is_untimed)
        return kmm__managed_fail(KMM_CUDA_INVALID_RESOURCE_HANDLE,
                                 "cudaEventElapsedTime: an event with cudaEventDisableTiming");
    int error = kmm_cuda_same_device(start, end, "cudaEventElapsedTime: an event");
    return error ? error : kmm_cuda_event_elapsed_time(milliseconds, start, end);
}

KMM__API int kmm_cuda_same_device(const void *a, const void *b, const char *what)
{
    char text[160];
    int first = device_of(a), second = device_of(b);
    if (first == second)
        return KMM_CUDA_SUCCESS;
    snprintf(text, sizeof(text), "%s of device %d and one of device %d", what, first, second);
    return kmm__managed_fail(KMM_CUDA_INVALID_RESOURCE_HANDLE, text);
}

/* ---- Variables of the device ---- */

/* Pretend devices share each variable; GPUs would have one instance each. A call that would show
 * the difference is refused. This is the list of variables that calls have named, with one bit for
 * each device from which a variable was written or its address was given to the program. */
typedef struct symbol {
    const void *at;
    uint32_t devices;
    struct symbol *next;
} symbol_t;
static symbol_t *symbols;
static pthread_mutex_t symbols_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t changed_from; /* one bit for each device on which kernels ran that can
                                         change variables of the device */

static int refuse_symbol(const char *call)
{
    char text[200];
    snprintf(text, sizeof(text),
             "%s: on the CPU target all devices share a variable, and this one would differ "
             "between device %d and others",
             call, kmm_cuda_device_current());
    return kmm__managed_fail(KMM_CUDA_NOT_SUPPORTED, text);
}

/* Adds `bit` to the devices of a variable. Returns the devices that it had before, or `bit` if
 * there is no memory for the list. The caller holds symbols_lock. */
static uint32_t symbol_add(const void *at, uint32_t bit)
{
    symbol_t *s = symbols;
    while (s && s->at != at)
        s = s->next;
    if (!s && (s = calloc(1, sizeof(*s)))) {
        *s = (symbol_t){at, 0, symbols};
        symbols = s;
    }
    uint32_t before = s ? s->devices : bit;
    if (s)
        s->devices |= bit;
    return before;
}

static uint32_t symbol_devices(const void *at, uint32_t bit)
{
    pthread_mutex_lock(&symbols_lock);
    uint32_t before = symbol_add(at, bit);
    pthread_mutex_unlock(&symbols_lock);
    return before;
}

KMM__API int kmm_cuda_symbol_write(const void *symbol, void *at, const void *src, size_t bytes)
{
    enum { BY_ADDRESS = 4 };
    uint32_t bit = 1u << kmm_cuda_device_current();
    if (symbol_devices(symbol, bit) & ~bit) {
        int error = kmm_cuda_device_settle(); /* a kernel may still write there */
        if (error)
            return error;
        if (bytes && (!src || kmm_cuda_is_managed(src) || memcmp(at, src, bytes)))
            return refuse_symbol("cudaMemcpyToSymbol");
    }
    return kmm_cuda_memcpy(at, src, bytes, BY_ADDRESS);
}

KMM__API int kmm_cuda_symbol_read(void *dst, const void *symbol, const void *at, size_t bytes)
{
    enum { BY_ADDRESS = 4 };
    uint32_t bit = 1u << kmm_cuda_device_current(), devices = symbol_devices(symbol, 0);
    if ((atomic_load(&changed_from) & ~bit) || (devices && !(devices & bit)))
        return refuse_symbol("cudaMemcpyFromSymbol");
    return kmm_cuda_memcpy(dst, at, bytes, BY_ADDRESS);
}

KMM__API int kmm_cuda_symbol_address(void **out, const void *symbol)
{
    uint32_t bit = 1u << kmm_cuda_device_current();
    if (!out)
        return kmm__managed_note(KMM_CUDA_INVALID_VALUE);
    if (symbol_devices(symbol, bit) & ~bit)
        return refuse_symbol("cudaGetSymbolAddress");
    *out = (void *)(uintptr_t)symbol;
    return KMM_CUDA_SUCCESS;
}

KMM__API void kmm_cuda_symbols_change(const char *kernel)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    uint32_t bit = 1u << kmm_cuda_device_current();
    if ((atomic_fetch_or(&changed_from, bit) & ~bit) && !atomic_flag_test_and_set(&is_said))
        kmm__log(KMM__LOG_WARNING,
                 "kernel %s on device %d uses variables of the device, as kernels on another "
                 "device did: on the CPU target all devices share them",
                 kernel, kmm_cuda_device_current());
}

/* ---- Access between devices ---- */

KMM__API int kmm_cuda_peer_can(int device, int peer)
{
    return device != peer && is_device(device) && is_device(peer);
}

KMM__API int kmm_cuda_peer_set(int peer, int enable)
{
    int device = kmm_cuda_device_current();
    if (!kmm_cuda_peer_can(device, peer))
        return kmm__managed_note(KMM_CUDA_INVALID_DEVICE);
    uint32_t bit = 1u << peer;
    bool was =
        (enable ? atomic_fetch_or(&reach[device], bit) : atomic_fetch_and(&reach[device], ~bit)) &
        bit;
    if (enable && was)
        return kmm__managed_note(KMM_CUDA_PEER_ACCESS_ALREADY_ENABLED);
    return enable || was ? KMM_CUDA_SUCCESS : kmm__managed_note(KMM_CUDA_PEER_ACCESS_NOT_ENABLED);
}

KMM__API int kmm_cuda_memcpy_peer(void *dst, int dst_device, const void *src, int src_device,
                                  size_t bytes)
{
    enum { BY_ADDRESS = 4 };
    if (!is_device(dst_device) || !is_device(src_device))
        return kmm__managed_note(KMM_CUDA_INVALID_DEVICE);
    return kmm_cuda_memcpy(dst, src, bytes, BY_ADDRESS);
}
