/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver's allocated memory: device, managed, page-locked, and pools. All of it is the host's. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fake_cuda.h"
#include "resource/driver.h"

#define FAKE __attribute__((visibility("default"))) CUresult

enum { BAD_VALUE = 1, BAD_CONTEXT = 201, DEVICES = 16 };

typedef struct block {
    char *at;
    size_t bytes;
    int device;
    CUmemoryPool pool; /* NULL: none */
    struct block *next;
} block_t;

struct CUmemPoolHandle_st { int device; size_t most, used; uint64_t threshold; };

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static block_t *blocks;
static size_t used[DEVICES];

FAKE cuCtxGetDevice(CUdevice *out);
FAKE cuStreamSynchronize(CUstream s);

static size_t limit(void)
{
    const char *text = getenv("KMM_FAKE_PLAIN");
    return text ? strtoull(text, NULL, 10) : (size_t)4 << 30;
}

bool fake_is_allocated(const void *p, unsigned long bytes)
{
    const char *at = p;
    bool is = false;
    pthread_mutex_lock(&memory_lock);
    for (block_t *b = blocks; b && !is; b = b->next)
        is = at >= b->at && at + bytes <= b->at + b->bytes;
    pthread_mutex_unlock(&memory_lock);
    return is;
}

static CUresult get(CUdeviceptr *out, size_t bytes, CUmemoryPool pool)
{
    CUdevice device;
    if (bytes == 0)
        return BAD_VALUE;
    if (cuCtxGetDevice(&device))
        return BAD_CONTEXT;
    pthread_mutex_lock(&memory_lock);
    bool fits = bytes <= limit() - used[device] && !(pool && pool->most && bytes > pool->most - pool->used);
    block_t *b = fits ? malloc(sizeof(*b)) : NULL;
    void *at = b ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
    if (at == MAP_FAILED) {
        pthread_mutex_unlock(&memory_lock);
        free(b);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *b = (block_t){ at, bytes, device, pool, blocks };
    blocks = b;
    used[device] += bytes;
    if (pool)
        pool->used += bytes;
    pthread_mutex_unlock(&memory_lock);
    *out = (CUdeviceptr)(uintptr_t)at;
    return CUDA_SUCCESS;
}

static CUresult put(CUdeviceptr p)
{
    CUdevice device;
    if (cuCtxGetDevice(&device))
        return BAD_CONTEXT;
    pthread_mutex_lock(&memory_lock);
    block_t **at = &blocks, *b;
    while (*at && (*at)->at != (char *)(uintptr_t)p)
        at = &(*at)->next;
    b = *at;
    if (!b) {
        fprintf(stderr, "fake libcuda: memory is freed that was not allocated\n");
        abort();
    }
    *at = b->next;
    used[b->device] -= b->bytes;
    if (b->pool)
        b->pool->used -= b->bytes;
    pthread_mutex_unlock(&memory_lock);
    munmap(b->at, b->bytes);
    free(b);
    return CUDA_SUCCESS;
}

FAKE cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) { return get(out, bytes, NULL); }

FAKE cuMemFree_v2(CUdeviceptr p)
{
    fake_settle();
    return put(p);
}

FAKE cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    return flags == CU_MEM_ATTACH_GLOBAL ? get(out, bytes, NULL) : BAD_VALUE;
}

FAKE cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    CUdeviceptr p = 0;
    CUresult r = flags == CU_MEMHOSTALLOC_PORTABLE ? get(&p, bytes, NULL) : BAD_VALUE;
    *out = (void *)(uintptr_t)p;
    return r;
}

FAKE cuMemFreeHost(void *p)
{
    fake_settle();
    return put((CUdeviceptr)(uintptr_t)p);
}

FAKE cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation to, unsigned flags, CUstream s)
{
    (void)s;
    bool right = to.type == CU_MEM_LOCATION_TYPE_DEVICE && flags == 0 && fake_is_allocated((void *)(uintptr_t)p, bytes);
    return right ? CUDA_SUCCESS : BAD_VALUE;
}

FAKE cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *p)
{
    if (p->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return BAD_VALUE;
    *out = calloc(1, sizeof(**out));
    (*out)->device = p->location.id;
    (*out)->most = p->maxSize;
    return CUDA_SUCCESS;
}

FAKE cuMemPoolDestroy(CUmemoryPool pool)
{
    if (pool->used) {
        fprintf(stderr, "fake libcuda: a pool is destroyed whose memory is in use\n");
        abort();
    }
    free(pool);
    return CUDA_SUCCESS;
}

FAKE cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value)
{
    if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        return BAD_VALUE;
    pool->threshold = *(uint64_t *)value;
    return CUDA_SUCCESS;
}

FAKE cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value)
{
    pthread_mutex_lock(&memory_lock);
    *(uint64_t *)value = attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? pool->threshold : pool->used;
    pthread_mutex_unlock(&memory_lock);
    return CUDA_SUCCESS;
}

FAKE cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    (void)pool, (void)keep; /* nothing is held back */
    return CUDA_SUCCESS;
}

FAKE cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream s)
{
    (void)s;
    return pool ? get(out, bytes, pool) : BAD_VALUE;
}

/* The real driver orders this on the stream; here the stream's work is awaited. */
FAKE cuMemFreeAsync(CUdeviceptr p, CUstream s)
{
    CUresult r = cuStreamSynchronize(s);
    return r ? r : put(p);
}
