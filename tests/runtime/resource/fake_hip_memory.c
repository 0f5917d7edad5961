/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HIP calls of the memory resources, on the machine of the fake drivers, whose libamdhip64.c
 * has those of the backend. What other files of that library may define too is weak here.
 */
#include "fake.h"
#include "resource/driver.h"

typedef int hipError_t;
#define FAKE FAKE_EXPORT hipError_t
#define FAKE_WEAK __attribute__((weak)) FAKE

enum { HIP_COPY_DEFAULT = 4 };

FAKE hipGetDevice(int *out);

static int current(void)
{
    int device = 0;
    hipGetDevice(&device);
    return device;
}

FAKE hipDeviceGet(int *out, int ordinal)
{
    *out = ordinal;
    return fake_is_device(ordinal) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

FAKE hipDeviceTotalMem(size_t *out, int device)
{
    *out = fake_memory();
    return fake_is_device(device) ? FAKE_OK : FAKE_INVALID_DEVICE;
}

/* ---- Allocated memory ---- */

FAKE hipMallocManaged(void **out, size_t bytes, unsigned flags)
{
    return flags == CU_MEM_ATTACH_GLOBAL ? fake_allocate(current(), bytes, NULL, out)
                                         : FAKE_INVALID_VALUE;
}

FAKE_WEAK hipHostMalloc(void **out, size_t bytes, unsigned flags)
{
    return flags == CU_MEMHOSTALLOC_PORTABLE ? fake_allocate(current(), bytes, NULL, out)
                                             : FAKE_INVALID_VALUE;
}

FAKE_WEAK hipHostFree(void *p)
{
    fake_settle();
    return fake_free(p);
}

FAKE hipMemPrefetchAsync(const void *p, size_t bytes, int device, fake_stream_t *s)
{
    (void)s;
    return fake_is_device(device) && fake_is_allocated(p, bytes) ? FAKE_OK : FAKE_INVALID_VALUE;
}

FAKE hipMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, fake_stream_t *s)
{
    if (kind != HIP_COPY_DEFAULT)
        return FAKE_INVALID_VALUE;
    int d = current();
    return fake_enqueue_copy(d, s,
                             &(fake_copy_t){dst, src, fake_is_devices(dst), fake_is_devices(src), d,
                                            d, bytes, 1, bytes, bytes});
}

/* ---- Pools ---- */

FAKE hipMemPoolCreate(fake_pool_t **out, const CUmemPoolProps *p)
{
    if (p->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return FAKE_INVALID_VALUE;
    return fake_pool_create(p->location.id, p->maxSize, out);
}

FAKE hipMemPoolDestroy(fake_pool_t *pool)
{
    return fake_pool_destroy(pool);
}

FAKE hipMemPoolSetAttribute(fake_pool_t *pool, int attribute, void *value)
{
    if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        return FAKE_INVALID_VALUE;
    *fake_pool_threshold(pool) = *(uint64_t *)value;
    return FAKE_OK;
}

FAKE hipMemPoolGetAttribute(fake_pool_t *pool, int attribute, void *value)
{
    bool threshold = attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    *(uint64_t *)value = threshold ? *fake_pool_threshold(pool) : fake_pool_used(pool);
    return FAKE_OK;
}

FAKE hipMemPoolSetAccess(fake_pool_t *pool, const CUmemAccessDesc *access, size_t count)
{
    if (count != 1 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
        access->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return FAKE_INVALID_VALUE;
    return fake_pool_allow(pool, access->location.id);
}

FAKE hipMemPoolTrimTo(fake_pool_t *pool, size_t keep)
{
    (void)pool, (void)keep; /* nothing is held back */
    return FAKE_OK;
}

FAKE hipMallocFromPoolAsync(void **out, size_t bytes, fake_pool_t *pool, fake_stream_t *s)
{
    (void)s;
    return pool ? fake_allocate(current(), bytes, pool, out) : FAKE_INVALID_VALUE;
}

/* The real one orders this on the stream; here the stream's work is awaited. */
FAKE hipFreeAsync(void *p, fake_stream_t *s)
{
    int r = fake_stream_synchronize(s);
    return r ? r : fake_free(p);
}

/* ---- Streams and events ---- */

FAKE_WEAK hipStreamSynchronize(fake_stream_t *s)
{
    return fake_stream_synchronize(s);
}
FAKE_WEAK hipEventSynchronize(fake_event_t *e)
{
    return fake_event_synchronize(e);
}
FAKE_WEAK hipStreamIsCapturing(fake_stream_t *s, int *out)
{
    return fake_capture_status(s, out);
}
