/* SPDX-License-Identifier: Apache-2.0 */
/* Binning: sends each request to the smallest bin that can hold it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "resource/resource.h"

typedef struct bin {
    size_t bytes;
    kmm_resource_t *resource;
    bool owned;
} bin_t;

typedef struct binning {
    kmm_resource_t head;
    pthread_rwlock_t lock; /* guards the bins; bins are added and never removed */
    bin_t *bins;           /* ascending by size */
    size_t count;
} binning_t;

/* Returns the smallest bin for a size, or upstream. The caller holds the lock. */
static kmm_resource_t *route(const binning_t *b, size_t bytes)
{
    size_t low = 0, high = b->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->bins[middle].bytes < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->count ? b->bins[low].resource : b->head.upstream;
}

static int binning_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                            void **out)
{
    binning_t *b = (binning_t *)r;
    pthread_rwlock_rdlock(&b->lock);
    kmm_resource_t *to = alignment > KMM_RESOURCE_ALIGNMENT ? r->upstream : route(b, bytes);
    pthread_rwlock_unlock(&b->lock);
    return kmm_resource_allocate(to, bytes, alignment, stream, out);
}

/* Finds the resource that has allocated p, among all bins and upstream. The size does not tell: a
 * bin may have been added since, and aligned requests go upstream. The caller holds the lock. */
static kmm_resource_t *find(const binning_t *b, const void *p, size_t *bytes)
{
    for (size_t i = 0; i < b->count; i++)
        if (kmm_resource_size(b->bins[i].resource, p, bytes) == 0)
            return b->bins[i].resource;
    return kmm_resource_size(b->head.upstream, p, bytes) == 0 ? b->head.upstream : NULL;
}

static int binning_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    binning_t *b = (binning_t *)r;
    size_t size;
    pthread_rwlock_rdlock(&b->lock);
    kmm_resource_t *from = bytes != KMM_SIZE_RECORDED ? route(b, bytes) : NULL;
    if (!from || kmm_resource_size(from, p, &size))
        from = find(b, p, &size);
    pthread_rwlock_unlock(&b->lock);
    if (!from)
        return kmm__resource_fail(
            KMM_E_ADDRESS, "%s: %p is not allocated (freed twice, or not from here)", r->name, p);
    return kmm_resource_deallocate(from, p, bytes, stream);
}

static int binning_size(kmm_resource_t *r, const void *p, size_t *bytes)
{
    binning_t *b = (binning_t *)r;
    pthread_rwlock_rdlock(&b->lock);
    kmm_resource_t *from = find(b, p, bytes);
    pthread_rwlock_unlock(&b->lock);
    return from ? 0 : kmm__resource_fail(KMM_E_ADDRESS, "%s: %p is not allocated", r->name, p);
}

static int each_bin(binning_t *b, int (*fn)(kmm_resource_t *, void *), void *argument)
{
    int status = 0;
    pthread_rwlock_rdlock(&b->lock);
    for (size_t i = 0; i < b->count; i++) {
        int one = fn(b->bins[i].resource, argument);
        status = status ? status : one;
    }
    pthread_rwlock_unlock(&b->lock);
    int one = fn(b->head.upstream, argument);
    return status ? status : one;
}

static int end_one(kmm_resource_t *r, void *stream)
{
    return kmm_resource_stream_end(r, stream);
}
static int allow_one(kmm_resource_t *r, void *device)
{
    return kmm_resource_allow(r, *(int *)device);
}
static int trim_one(kmm_resource_t *r, void *keep)
{
    return kmm_resource_trim(r, *(size_t *)keep);
}

static int binning_stream_end(kmm_resource_t *r, kmm_stream_t stream)
{
    return each_bin((binning_t *)r, end_one, stream);
}
static int binning_allow(kmm_resource_t *r, int device)
{
    return each_bin((binning_t *)r, allow_one, &device);
}
static int binning_trim(kmm_resource_t *r, size_t keep)
{
    return each_bin((binning_t *)r, trim_one, &keep);
}

static int binning_destroy(kmm_resource_t *r)
{
    binning_t *b = (binning_t *)r;
    int status = 0;
    for (size_t i = 0; i < b->count; i++) {
        int one = b->bins[i].owned ? kmm_resource_destroy(b->bins[i].resource) : 0;
        status = status ? status : one;
    }
    pthread_rwlock_destroy(&b->lock);
    free(b->bins);
    free(b);
    return status;
}

static const kmm__resource_ops_t binning_ops = {
    .allocate = binning_allocate,
    .deallocate = binning_deallocate,
    .size = binning_size,
    .trim = binning_trim,
    .stream_end = binning_stream_end,
    .allow = binning_allow,
    .destroy = binning_destroy,
};

KMM__API int kmm_binning_resource_create(kmm_resource_t *upstream, kmm_resource_t **out)
{
    if (!upstream || !out)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "binning: no upstream, or nowhere to put the resource");
    binning_t *b = calloc(1, sizeof(*b));
    if (!b)
        return kmm__resource_fail(KMM_E_MEMORY, "binning: no host memory for the resource");
    kmm__resource_init(&b->head, &binning_ops, "binning", upstream);
    b->head.ordered =
        b->head.order != NULL; /* bins hand out memory again, even if upstream does not */
    pthread_rwlock_init(&b->lock, NULL);
    *out = &b->head;
    return 0;
}

static int insert(binning_t *b, bin_t bin)
{
    size_t at = 0;
    while (at < b->count && b->bins[at].bytes < bin.bytes)
        at++;
    if (at < b->count && b->bins[at].bytes == bin.bytes)
        return kmm__resource_fail(KMM_E_INVALID, "%s: there is a bin of %zu bytes", b->head.name,
                                  bin.bytes);
    bin_t *bins = realloc(b->bins, (b->count + 1) * sizeof(*bins));
    if (!bins)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a bin", b->head.name);
    b->bins = bins;
    memmove(&bins[at + 1], &bins[at], (b->count - at) * sizeof(*bins));
    bins[at] = bin;
    b->count++;
    return 0;
}

/* True if a stream handle means the same stream to both. */
static bool has_streams_of(const kmm_resource_t *a, const kmm_resource_t *b)
{
    if (!a->order || !b->order || a->device != b->device)
        return a->order == b->order && a->device == b->device;
    return memcmp(a->order, b->order, sizeof(*a->order)) == 0;
}

KMM__API int kmm_binning_add(kmm_resource_t *r, size_t bytes, kmm_resource_t *resource)
{
    if (!r || r->ops != &binning_ops || bytes == 0 || resource == r)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "binning_add: no binning resource, no size, or itself as a bin");
    if (resource && !has_streams_of(resource, r))
        return kmm__resource_fail(KMM_E_INVALID, "%s: %s has not the streams of upstream", r->name,
                                  resource->name);
    binning_t *b = (binning_t *)r;
    bin_t bin = {bytes, resource, resource == NULL};
    if (bin.owned) {
        kmm_fixed_size_options_t options = {.block_bytes = bytes};
        int status = kmm_fixed_size_resource_create(r->upstream, &options, &bin.resource);
        if (status)
            return status;
    }
    pthread_rwlock_wrlock(&b->lock);
    int status = insert(b, bin);
    pthread_rwlock_unlock(&b->lock);
    if (status && bin.owned)
        kmm_resource_destroy(bin.resource);
    return status;
}
