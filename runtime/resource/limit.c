/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the bytes that are allocated at a time. */
#include <stdatomic.h>

#include "resource/ledger.h"

typedef struct limiting {
    kmm__ledger_t ledger;
    size_t limit;
    _Atomic size_t
        used; /* bytes of live requests, each rounded up to 256; never more than the limit */
} limiting_t;

static size_t counted(size_t bytes)
{
    return kmm__round_up(bytes, KMM_RESOURCE_ALIGNMENT);
}

/* Reserves bytes before upstream is called. So threads cannot exceed the limit together. */
static bool reserve(limiting_t *l, size_t bytes)
{
    size_t used = atomic_load(&l->used);
    do {
        if (bytes > l->limit - used)
            return false;
    } while (!atomic_compare_exchange_weak(&l->used, &used, used + bytes));
    return true;
}

static int limiting_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                             void **out)
{
    limiting_t *l = (limiting_t *)r;
    if (!reserve(l, counted(bytes)))
        return kmm__resource_fail(KMM_E_MEMORY, "%s: %zu bytes are more than what %zu of %zu leave",
                                  r->name, bytes, atomic_load(&l->used), l->limit);
    int status = kmm__ledger_allocate(r, bytes, alignment, stream, out);
    if (status)
        atomic_fetch_sub(&l->used, counted(bytes));
    return status;
}

static int limiting_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    limiting_t *l = (limiting_t *)r;
    size_t size;
    int status = kmm__ledger_give_back(r, p, bytes, stream, &size);
    if (status == 0)
        atomic_fetch_sub(&l->used, counted(size));
    return status;
}

static int limiting_info(kmm_resource_t *r, size_t *available, size_t *total)
{
    limiting_t *l = (limiting_t *)r;
    size_t left = l->limit - atomic_load(&l->used);
    int status = kmm_resource_memory_info(r->upstream, available, total);
    if (status && status != KMM_E_UNSUPPORTED)
        return status;
    *available = status || left < *available ? left : *available;
    *total = status || l->limit < *total ? l->limit : *total;
    return 0;
}

static const kmm__resource_ops_t limiting_ops = {
    .allocate = limiting_allocate,
    .deallocate = limiting_deallocate,
    .size = kmm__ledger_size,
    .info = limiting_info,
    .usage = kmm__pass_usage,
    .destroy = kmm__ledger_destroy,
};

KMM__API int kmm_limiting_resource_create(kmm_resource_t *upstream, size_t limit,
                                          kmm_resource_t **out)
{
    int status = kmm__adaptor_create(&limiting_ops, "limiting", sizeof(limiting_t), upstream, out);
    if (status == 0)
        ((limiting_t *)*out)->limit = limit;
    return status;
}
