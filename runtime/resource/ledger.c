/* SPDX-License-Identifier: Apache-2.0 */
#include "resource/ledger.h"

#include <stdlib.h>
#include <string.h>

void *kmm__ledger_home(size_t bytes)
{
    const size_t whole = kmm__round_up(bytes, 64);
    void *home = aligned_alloc(64, whole);
    return home ? memset(home, 0, whole) : NULL;
}

void kmm__ledger_deinit(kmm__ledger_t *l)
{
    kmm__table_deinit(&l->sizes);
}

/* Sizes are stored as pointers. No allocation has 0 bytes, so no size looks like NULL. */
static void *value_of(size_t bytes)
{
    return (void *)(uintptr_t)bytes;
}

int kmm__ledger_add(kmm__ledger_t *l, kmm_resource_t *r, size_t bytes, kmm_stream_t stream,
                    void **p)
{
    if (kmm__table_put(&l->sizes, *p, value_of(bytes)) == 0)
        return 0;
    kmm__resource_give_back(r->upstream, *p, bytes, stream);
    *p = NULL;
    return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory to record an allocation", r->name);
}

int kmm__ledger_take(kmm__ledger_t *l, const kmm_resource_t *r, const void *p, size_t bytes,
                     size_t *size)
{
    *size = (uintptr_t)kmm__table_take(&l->sizes, p);
    if (*size == 0)
        return kmm__resource_fail(
            KMM_E_ADDRESS, "%s: %p is not allocated (freed twice, or not from here)", r->name, p);
    if (bytes == KMM_SIZE_RECORDED || bytes == *size)
        return 0;
    kmm__ledger_return(l, p, *size);
    return kmm__resource_fail(KMM_E_INVALID, "%s: %p has %zu bytes, freed with %zu", r->name, p,
                              *size, bytes);
}

/* Cannot fail: a place has just become free. */
void kmm__ledger_return(kmm__ledger_t *l, const void *p, size_t size)
{
    kmm__table_put(&l->sizes, p, value_of(size));
}

int kmm__ledger_give_back(kmm__ledger_t *l, kmm_resource_t *r, void *p, size_t bytes,
                          kmm_stream_t stream, size_t *size)
{
    int status = kmm__ledger_take(l, r, p, bytes, size);
    if (status)
        return status;
    status = kmm__resource_give_back(r->upstream, p, *size, stream);
    if (status)
        kmm__ledger_return(l, p, *size);
    return status;
}

int kmm__ledger_size(kmm__ledger_t *l, const kmm_resource_t *r, const void *p, size_t *size)
{
    *size = (uintptr_t)kmm__table_find(&l->sizes, p);
    return *size ? 0 : kmm__resource_fail(KMM_E_ADDRESS, "%s: %p is not allocated", r->name, p);
}

int kmm__ledger_check_empty(kmm__ledger_t *l, const kmm_resource_t *r)
{
    const size_t left = kmm__table_count(&l->sizes);
    return left ? kmm__resource_fail(KMM_E_STATE, "%s: %zu allocations were left", r->name, left)
                : 0;
}
