/* SPDX-License-Identifier: Apache-2.0 */
/* Raises the alignment of large requests. */
#include <stdlib.h>

#include "resource/resource.h"

typedef struct aligned {
    kmm_resource_t head;
    size_t alignment, threshold;
} aligned_t;

static int aligned_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                            void **out)
{
    const aligned_t *a = (const aligned_t *)r;
    if (bytes >= a->threshold && alignment < a->alignment)
        alignment = a->alignment;
    return kmm_resource_allocate(r->upstream, bytes, alignment, stream, out);
}

static const kmm__resource_ops_t aligned_ops = {
    .allocate = aligned_allocate,
    .deallocate = kmm__pass_deallocate,
    .size = kmm__pass_size,
    .usage = kmm__pass_usage,
    .destroy = kmm__free_destroy,
};

KMM__API int kmm_aligned_resource_create(kmm_resource_t *upstream, size_t alignment,
                                         size_t threshold, kmm_resource_t **out)
{
    if (!upstream || !out)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "aligned: no upstream, or nowhere to put the resource");
    if (alignment == 0 || alignment & (alignment - 1))
        return kmm__resource_fail(KMM_E_INVALID, "aligned: alignment %zu is no power of two",
                                  alignment);
    aligned_t *a = calloc(1, sizeof(*a));
    if (!a)
        return kmm__resource_fail(KMM_E_MEMORY, "aligned: no host memory for the resource");
    kmm__resource_init(&a->head, &aligned_ops, "aligned", upstream);
    a->alignment = alignment;
    a->threshold = threshold;
    *out = &a->head;
    return 0;
}
