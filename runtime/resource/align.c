/* SPDX-License-Identifier: Apache-2.0 */
/* Raises the alignment of large requests. */
#include "resource/adaptor.h"

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
    if (upstream && out && (alignment == 0 || alignment & (alignment - 1)))
        return kmm__resource_fail(KMM_E_INVALID, "aligned: alignment %zu is no power of two",
                                  alignment);
    int status = kmm__adaptor_create(&aligned_ops, "aligned", sizeof(aligned_t), upstream, out);
    if (status)
        return status;
    aligned_t *a = (aligned_t *)*out;
    a->alignment = alignment;
    a->threshold = threshold;
    return 0;
}
