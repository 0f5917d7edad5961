/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of memory from a GPU's driver: device memory, the driver's stream-ordered pool,
 * managed memory and page-locked memory. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "resource/driver.h"
#include "resource/source.h"

typedef struct device_source {
    kmm__source_t source;
    size_t most; /* bytes; a larger request fails with KMM_E_MEMORY, whatever error the driver would
                    give */
    CUmemoryPool pool;
    bool owns_pool;
} device_source_t;

static size_t physical_memory(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Makes the device's context current for a request of `bytes`. */
static int enter_for(kmm__source_t *s, size_t bytes)
{
    if (bytes > ((device_source_t *)s)->most)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: %zu bytes are more than there ever are",
                                  s->head.name, bytes);
    return kmm__driver_enter(s->head.device);
}

static int give(kmm__source_t *s, CUresult result, const char *call, CUdeviceptr p, void **out)
{
    int status = kmm__driver_check(result, call, s->head.device);
    kmm__driver_leave();
    *out = status ? NULL : (void *)(uintptr_t)p;
    return status;
}

static int taken(kmm__source_t *s, CUresult result, const char *call)
{
    int status = kmm__driver_check(result, call, s->head.device);
    kmm__driver_leave();
    return status;
}

/* ---- Device ---- */

static int device_get(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)stream;
    CUdeviceptr p = 0;
    int status = enter_for(s, bytes);
    if (status)
        return status;
    CUresult result = kmm__driver()->MemAlloc(&p, bytes);
    return give(s, result, "cuMemAlloc", p, out);
}

/* Waits for the device, as cudaFree does. So no stream uses the memory any more. */
static int device_put(kmm__source_t *s, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)bytes, (void)stream;
    int status = kmm__driver_enter(s->head.device);
    return status ? status
                  : taken(s, kmm__driver()->MemFree((CUdeviceptr)(uintptr_t)p), "cuMemFree");
}

static int device_info(kmm__source_t *s, size_t *available, size_t *total)
{
    int status = kmm__driver_enter(s->head.device);
    return status ? status : taken(s, kmm__driver()->MemGetInfo(available, total), "cuMemGetInfo");
}

/* Gives another device access. The driver gives it to all memory that is allocated on the device in
 * this way. */
static int device_allow(kmm__source_t *s, int device)
{
    const int owner = s->head.device;
    int status = device == owner ? 0 : kmm__driver_can_reach(device, owner);
    return status || device == owner ? status : kmm__driver_open_to(device, owner);
}

/* ---- Managed ---- */

static int managed_get(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)stream;
    CUdeviceptr p = 0;
    int status = enter_for(s, bytes);
    if (status)
        return status;
    CUresult result = kmm__driver()->MemAllocManaged(&p, bytes, CU_MEM_ATTACH_GLOBAL);
    return give(s, result, "cuMemAllocManaged", p, out);
}

/* Managed and page-locked memory can be reached by every device. */
static int allowed_anyway(kmm__source_t *s, int device)
{
    (void)s;
    int status = kmm__driver_enter(device);
    if (status == 0)
        kmm__driver_leave();
    return status;
}

/* ---- Pinned ---- */

static int pinned_get(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)stream;
    void *p = NULL;
    int status = enter_for(s, bytes);
    if (status)
        return status;
    CUresult result = kmm__driver()->MemHostAlloc(&p, bytes, CU_MEMHOSTALLOC_PORTABLE);
    return give(s, result, "cuMemHostAlloc", (CUdeviceptr)(uintptr_t)p, out);
}

static int pinned_put(kmm__source_t *s, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)bytes, (void)stream;
    int status = kmm__driver_enter(s->head.device);
    return status ? status : taken(s, kmm__driver()->MemFreeHost(p), "cuMemFreeHost");
}

static int pinned_info(kmm__source_t *s, size_t *available, size_t *total)
{
    (void)s;
    *available = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *total = physical_memory();
    return 0;
}

/* ---- The driver's pool ---- */

static int async_get(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out)
{
    CUdeviceptr p = 0;
    int status = enter_for(s, bytes);
    if (status)
        return status;
    CUresult result =
        kmm__driver()->MemAllocFromPoolAsync(&p, bytes, ((device_source_t *)s)->pool, stream);
    return give(s, result, "cuMemAllocFromPoolAsync", p, out);
}

static int async_put(kmm__source_t *s, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)bytes;
    int status = kmm__driver_enter(s->head.device);
    return status ? status
                  : taken(s, kmm__driver()->MemFreeAsync((CUdeviceptr)(uintptr_t)p, stream),
                          "cuMemFreeAsync");
}

static int async_trim(kmm__source_t *s, size_t keep)
{
    int status = kmm__driver_enter(s->head.device);
    return status ? status
                  : taken(s, kmm__driver()->MemPoolTrimTo(((device_source_t *)s)->pool, keep),
                          "cuMemPoolTrimTo");
}

static int async_allow(kmm__source_t *s, int device)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    int status = device == s->head.device ? 0 : kmm__driver_can_reach(device, s->head.device);
    if (status || device == s->head.device)
        return status;
    status = kmm__driver_enter(s->head.device);
    return status
               ? status
               : taken(s, kmm__driver()->MemPoolSetAccess(((device_source_t *)s)->pool, &access, 1),
                       "cuMemPoolSetAccess");
}

/* Unused memory of the driver's pool counts as available. */
static int async_info(kmm__source_t *s, size_t *available, size_t *total)
{
    const CUmemoryPool pool = ((device_source_t *)s)->pool;
    uint64_t held = 0, used = 0;
    int status = kmm__driver_enter(s->head.device);
    if (status)
        return status;
    CUresult result = kmm__driver()->MemGetInfo(available, total);
    if (!result)
        result =
            kmm__driver()->MemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held);
    if (!result)
        result = kmm__driver()->MemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
    *available += held > used ? held - used : 0;
    *available = *available < *total ? *available
                                     : *total; /* other threads may allocate between the calls */
    return taken(s, result, "cuMemPoolGetAttribute");
}

static void async_close(kmm__source_t *s)
{
    device_source_t *d = (device_source_t *)s;
    if (!d->owns_pool || kmm__driver_enter(s->head.device))
        return;
    kmm__driver()->MemPoolDestroy(d->pool);
    kmm__driver_leave();
}

/* ---- Creation ---- */

/* Creates a source. `place` receives the resource. */
static int source_new(const char *noun, kmm_resource_t **place, int device, kmm_memory_kind_t kind,
                      device_source_t **out)
{
    size_t total = 0;
    CUdevice d;
    if (!place)
        return kmm__resource_fail(KMM_E_INVALID, "%s: nowhere to put the resource", noun);
    int status = kmm__driver_enter(device);
    if (status)
        return status;
    CUresult result = kmm__driver()->DeviceGet(&d, device);
    status = kmm__driver_check(result ? result : kmm__driver()->DeviceTotalMem(&total, d),
                               "cuDeviceTotalMem", device);
    kmm__driver_leave();
    if (status)
        return status;
    device_source_t *s = aligned_alloc(64, kmm__round_up(sizeof(*s), 64));
    if (!s)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for the resource", noun);
    kmm__source_init(&s->source, noun);
    snprintf(s->source.head.name, sizeof(s->source.head.name), "%s %d", noun, device);
    s->source.head.kind = kind;
    s->source.head.device = device;
    s->source.head.order = kmm__driver_order(device);
    s->source.put = device_put;
    s->source.info = device_info;
    s->most = total;
    s->pool = NULL;
    s->owns_pool = false;
    *out = s;
    return 0;
}

KMM__API int kmm_device_resource_create(int device, kmm_resource_t **out)
{
    device_source_t *s = NULL;
    int status = source_new("device", out, device, KMM_MEMORY_DEVICE, &s);
    if (status)
        return status;
    s->source.get = device_get;
    s->source.allow = device_allow;
    *out = &s->source.head;
    return 0;
}

KMM__API int kmm_managed_resource_create(int device, kmm_resource_t **out)
{
    device_source_t *s = NULL;
    int status = source_new("managed", out, device, KMM_MEMORY_MANAGED, &s);
    if (status)
        return status;
    s->source.get = managed_get;
    s->source.allow = allowed_anyway;
    s->most += physical_memory();
    *out = &s->source.head;
    return 0;
}

KMM__API int kmm_pinned_resource_create(int device, kmm_resource_t **out)
{
    device_source_t *s = NULL;
    int status = source_new("pinned", out, device, KMM_MEMORY_PINNED, &s);
    if (status)
        return status;
    s->source.get = pinned_get;
    s->source.put = pinned_put;
    s->source.allow = allowed_anyway;
    s->source.info = pinned_info;
    s->source.alignment = 16; /* the driver guarantees no larger one */
    s->most = physical_memory();
    *out = &s->source.head;
    return 0;
}

static bool is_managed(const device_source_t *s)
{
    return s->source.head.kind == KMM_MEMORY_MANAGED;
}

static CUresult pool_make(device_source_t *s, const kmm_async_options_t *o)
{
    CUmemPoolProps p = {
        .allocType = is_managed(s) ? (int)CU_MEM_ALLOCATION_TYPE_MANAGED
                                   : (int)CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, s->source.head.device},
        .maxSize = o->maximum_bytes,
    };
    CUresult result = kmm__driver()->MemPoolCreate(&s->pool, &p);
    s->owns_pool = result == CUDA_SUCCESS;
    return result;
}

/* Allocates and frees `bytes`, so that the driver's pool holds that memory from now on. */
static CUresult pool_warm(device_source_t *s, size_t bytes)
{
    CUdeviceptr p = 0;
    CUresult result = kmm__driver()->MemAllocFromPoolAsync(&p, bytes, s->pool, NULL);
    if (!result)
        result = kmm__driver()->MemFreeAsync(p, NULL);
    return result ? result : kmm__driver()->StreamSynchronize(NULL);
}

static int pool_open(device_source_t *s, const kmm_async_options_t *o)
{
    const int device = s->source.head.device;
    int status = kmm__driver_enter(device);
    if (status)
        return status;
    s->pool = o->pool;
    CUresult result = s->pool ? CUDA_SUCCESS : pool_make(s, o);
    status = kmm__driver_check(result, "cuMemPoolCreate", device);
    if (status == KMM_E_DEVICE && is_managed(s))
        status = kmm__resource_fail(KMM_E_UNSUPPORTED,
                                    "async: the driver of device %d has no pools of managed memory",
                                    device);
    /* A pool of the program keeps its own threshold unless the options give one. */
    uint64_t threshold = o->release_threshold ? o->release_threshold : UINT64_MAX;
    if (status == 0 && (s->owns_pool || o->release_threshold))
        status = kmm__driver_check(kmm__driver()->MemPoolSetAttribute(
                                       s->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
                                   "cuMemPoolSetAttribute", device);
    if (status == 0 && o->initial_bytes)
        status =
            kmm__driver_check(pool_warm(s, o->initial_bytes), "cuMemAllocFromPoolAsync", device);
    kmm__driver_leave();
    return status;
}

KMM__API int kmm_async_resource_create(int device, const kmm_async_options_t *options,
                                       kmm_resource_t **out)
{
    const kmm_async_options_t none = {0};
    device_source_t *s = NULL;
    const kmm_memory_kind_t kind = options && options->kind ? options->kind : KMM_MEMORY_DEVICE;
    if (kind != KMM_MEMORY_DEVICE && kind != KMM_MEMORY_MANAGED)
        return kmm__resource_fail(
            KMM_E_INVALID,
            "async: the driver's pools are of device or managed memory, not of kind %d", (int)kind);
    int status = source_new("async", out, device, kind, &s);
    if (status)
        return status;
    if (is_managed(s))
        s->most += physical_memory();
    s->source.get = async_get;
    s->source.put = async_put;
    s->source.info = async_info;
    s->source.trim = async_trim;
    s->source.allow = is_managed(s) ? allowed_anyway : async_allow;
    s->source.close = async_close;
    s->source.head.ordered = true;
    status = pool_open(s, options ? options : &none);
    if (status)
        kmm_resource_destroy(&s->source.head);
    else
        *out = &s->source.head;
    return status;
}

KMM__API int kmm_pinned_pool_resource_create(int device, const kmm_pool_options_t *options,
                                             kmm_resource_t **out)
{
    kmm_resource_t *source = NULL, *pool = NULL;
    if (!out)
        return kmm__resource_fail(KMM_E_INVALID, "pinned_pool: nowhere to put the resource");
    int status = kmm_pinned_resource_create(device, &source);
    if (status)
        return status;
    status = kmm_pool_resource_create(source, options, &pool);
    if (status == 0)
        status = kmm_owning_resource_create(pool, &source, 1, out);
    if (status) {
        kmm_resource_destroy(pool);
        kmm_resource_destroy(source);
    }
    return status;
}
