/* SPDX-License-Identifier: Apache-2.0 */
/* The index of arrays by their addresses. */
#include "memory/array.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

/* Returns the number of arrays whose base is at or below the address. */
static uint32_t index_of(const kmm_runtime_t *rt, const char *address)
{
    kmm__array_t *const *arrays = rt->memory->arrays;
    uint32_t lo = 0, hi = rt->memory->array_count;
    while (lo < hi) {
        uint32_t middle = (lo + hi) / 2;
        if ((uintptr_t)arrays[middle]->base <= (uintptr_t)address)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

kmm__array_t *kmm__array_find(kmm_runtime_t *rt, const void *address)
{
    uint32_t k = index_of(rt, address);
    if (k == 0)
        return NULL;
    kmm__array_t *a = rt->memory->arrays[k - 1];
    size_t offset = (size_t)((const char *)address - a->base);
    /* The address behind the last byte is the array's, too, if its reservation covers it. */
    return offset < a->bytes || (offset == a->bytes && (a->reserved || a->home)) ? a : NULL;
}

static bool is_around(const kmm__array_t *a, uintptr_t at)
{
    uintptr_t base = (uintptr_t)a->base;
    return kmm__array_has_margin(a) && at >= base - KMM__NAME_MARGIN && at < base + a->reserved;
}

kmm__array_t *kmm__array_around(kmm_runtime_t *rt, const void *address)
{
    kmm__array_t *const *arrays = rt->memory->arrays;
    uint32_t k = index_of(rt, address);
    if (k < rt->memory->array_count && is_around(arrays[k], (uintptr_t)address))
        return arrays[k];
    return k > 0 && is_around(arrays[k - 1], (uintptr_t)address) ? arrays[k - 1] : NULL;
}

kmm__array_t *kmm__array_near(kmm_runtime_t *rt, const void *address)
{
    kmm__array_t *around = kmm__array_around(rt, address);
    uint32_t k = index_of(rt, address);
    uintptr_t at = (uintptr_t)address, before = UINTPTR_MAX, behind = UINTPTR_MAX;
    kmm__array_t *const *arrays = rt->memory->arrays;
    if (around)
        return around;
    if (k > 0 && !kmm__array_has_margin(arrays[k - 1]))
        behind = at - ((uintptr_t)arrays[k - 1]->base + arrays[k - 1]->bytes);
    if (k < rt->memory->array_count && !kmm__array_has_margin(arrays[k]))
        before = (uintptr_t)arrays[k]->base - at;
    if ((before < behind ? before : behind) > KMM__NAME_MARGIN)
        return NULL;
    return before < behind ? arrays[k] : arrays[k - 1];
}

kmm__array_t *kmm__array_in(kmm_runtime_t *rt, const char *base, size_t bytes, uint32_t *count)
{
    kmm__array_t *const *arrays = rt->memory->arrays;
    uint32_t begin = index_of(rt, base), end = bytes ? index_of(rt, base + bytes - 1) : begin;
    if (begin > 0 &&
        (uintptr_t)base < (uintptr_t)arrays[begin - 1]->base + arrays[begin - 1]->bytes)
        begin--;
    *count = bytes ? end - begin : 0;
    return *count ? arrays[begin] : NULL;
}

void kmm__array_index(kmm_runtime_t *rt, kmm__array_t *a)
{
    uint32_t k = index_of(rt, a->base);
    rt->memory->arrays = kmm__grow(rt->memory->arrays, rt->memory->array_count,
                                   &rt->memory->array_capacity, sizeof(*rt->memory->arrays));
    memmove(rt->memory->arrays + k + 1, rt->memory->arrays + k,
            (rt->memory->array_count - k) * sizeof(*rt->memory->arrays));
    rt->memory->arrays[k] = a;
    rt->memory->array_count++;
    rt->memory->index_changes++;
}

bool kmm__array_unindex(kmm__array_t *a)
{
    kmm_runtime_t *rt = a->runtime;
    uint32_t k = index_of(rt, a->base);
    if (k == 0 || rt->memory->arrays[k - 1] != a)
        return false;
    memmove(rt->memory->arrays + k - 1, rt->memory->arrays + k,
            (rt->memory->array_count - k) * sizeof(*rt->memory->arrays));
    rt->memory->array_count--;
    rt->memory->index_changes += !a->is_unknown;
    return true;
}

void kmm__array_hide(kmm__array_t *a)
{
    a->is_unknown = true;
    a->runtime->memory->index_changes--;
}

bool kmm__array_between(kmm_runtime_t *rt, const void *base, size_t bytes)
{
    return bytes && index_of(rt, (const char *)base + bytes - 1) != index_of(rt, base);
}

kmm__access_t kmm__access_bytes(kmm__array_t *a, kmm_mode_t mode, int64_t begin, int64_t end)
{
    kmm__access_t access = {.array = a, .mode = mode, .exact = true, .item = KMM__MAX_ITEMS};
    access.layout = &a->flat;
    access.box = (kmm__box_t){1, {begin}, {end}};
    return access;
}

/* Whole pages are mapped and unmapped, so that tools which track memory, such as sanitizers, keep
 * no stale state of the rest of the last page. */
size_t kmm__whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes ? (bytes + page - 1) / page * page : page;
}
