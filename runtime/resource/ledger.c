/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger: a table from addresses to the sizes that an adaptor has allocated. */
#include "resource/ledger.h"

#include <stdlib.h>

static kmm__table_t *sizes_of(kmm_resource_t *r)
{
    return &((kmm__ledger_t *)r)->sizes;
}

/* Sizes are stored as pointers. No allocation has 0 bytes, so no size looks like NULL. */
static void *value_of(size_t bytes)
{
    return (void *)(uintptr_t)bytes;
}

int kmm__ledger_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                         void **out)
{
    int status = kmm_resource_allocate(r->upstream, bytes, alignment, stream, out);
    if (status || kmm__table_put(sizes_of(r), *out, value_of(bytes)) == 0)
        return status;
    kmm__resource_give_back(r->upstream, *out, bytes, stream);
    *out = NULL;
    return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory to record an allocation", r->name);
}

int kmm__ledger_take(kmm_resource_t *r, const void *p, size_t bytes, size_t *size)
{
    *size = (uintptr_t)kmm__table_take(sizes_of(r), p);
    if (*size == 0)
        return kmm__resource_fail(
            KMM_E_ADDRESS, "%s: %p is not allocated (freed twice, or not from here)", r->name, p);
    if (bytes == KMM_SIZE_RECORDED || bytes == *size)
        return 0;
    kmm__ledger_return(r, p, *size);
    return kmm__resource_fail(KMM_E_INVALID, "%s: %p has %zu bytes, freed with %zu", r->name, p,
                              *size, bytes);
}

/* Cannot fail: the table has a free entry, the one that was just taken out. */
void kmm__ledger_return(kmm_resource_t *r, const void *p, size_t size)
{
    kmm__table_put(sizes_of(r), p, value_of(size));
}

int kmm__ledger_give_back(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream,
                          size_t *size)
{
    int status = kmm__ledger_take(r, p, bytes, size);
    if (status)
        return status;
    status = kmm__resource_give_back(r->upstream, p, *size, stream);
    if (status)
        kmm__ledger_return(r, p, *size);
    return status;
}

int kmm__ledger_size(kmm_resource_t *r, const void *p, size_t *size)
{
    *size = (uintptr_t)kmm__table_find(sizes_of(r), p);
    return *size ? 0 : kmm__resource_fail(KMM_E_ADDRESS, "%s: %p is not allocated", r->name, p);
}

int kmm__ledger_destroy(kmm_resource_t *r)
{
    const size_t left = kmm__table_count(sizes_of(r));
    int status =
        left ? kmm__resource_fail(KMM_E_STATE, "%s: %zu allocations were left", r->name, left) : 0;
    kmm__table_deinit(sizes_of(r));
    free(r);
    return status;
}
