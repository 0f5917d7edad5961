/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of streams that are created once and handed out in turn. */
#include <stdatomic.h>
#include <stdlib.h>

#include "resource/driver.h"

struct kmm_stream_pool {
    int device;
    size_t count;
    _Atomic size_t turn;
    CUstream streams[];
};

static CUresult fill(kmm_stream_pool_t *pool, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    while (pool->count < count && !result) {
        result = kmm__driver()->StreamCreate(&pool->streams[pool->count], CU_STREAM_NON_BLOCKING);
        pool->count += !result;
    }
    return result;
}

KMM__API int kmm_stream_pool_create(int device, size_t count, kmm_stream_pool_t **out)
{
    if (!out || count > 65536)
        return kmm__resource_fail(KMM_E_INVALID, "stream_pool: %zu streams, or nowhere to put them",
                                  count);
    count = count ? count : 16;
    int status = kmm__driver_enter(device);
    if (status)
        return status;
    kmm_stream_pool_t *pool = calloc(1, sizeof(*pool) + count * sizeof(pool->streams[0]));
    if (pool) {
        pool->device = device;
        status = kmm__driver_check(fill(pool, count), "cuStreamCreate", device);
    } else {
        status = kmm__resource_fail(KMM_E_MEMORY, "stream_pool: no host memory for it");
    }
    kmm__driver_leave();
    if (status)
        kmm_stream_pool_destroy(pool);
    else
        *out = pool;
    return status;
}

KMM__API void kmm_stream_pool_destroy(kmm_stream_pool_t *pool)
{
    if (!pool)
        return;
    if (kmm__driver_enter(pool->device) == 0) {
        for (size_t i = 0; i < pool->count; i++) {
            kmm__driver()->StreamSynchronize(pool->streams[i]);
            kmm__driver()->StreamDestroy(pool->streams[i]);
        }
        kmm__driver_leave();
    }
    free(pool);
}

KMM__API size_t kmm_stream_pool_count(const kmm_stream_pool_t *pool)
{
    return pool ? pool->count : 0;
}

KMM__API kmm_stream_t kmm_stream_pool_next(kmm_stream_pool_t *pool)
{
    if (!pool)
        return NULL;
    return pool
        ->streams[atomic_fetch_add_explicit(&pool->turn, 1, memory_order_relaxed) % pool->count];
}

KMM__API int kmm_stream_pool_get(kmm_stream_pool_t *pool, size_t index, kmm_stream_t *out)
{
    if (!pool || !out || index >= pool->count)
        return kmm__resource_fail(KMM_E_RANGE, "stream_pool: there is no stream %zu", index);
    *out = pool->streams[index];
    return 0;
}
