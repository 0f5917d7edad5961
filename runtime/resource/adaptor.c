/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that all adaptors share: making one, and the functions that pass a call to upstream. */
#include "resource/adaptor.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 }; /* bytes of a cache line; alignment of the shards of a table */

int kmm__adaptor_create(const kmm__resource_ops_t *ops, const char *noun, size_t bytes,
                        kmm_resource_t *upstream, kmm_resource_t **out)
{
    if (!upstream || !out)
        return kmm__resource_fail(KMM_E_INVALID, "%s: no upstream, or nowhere to put the resource",
                                  noun);
    const size_t whole = kmm__round_up(bytes, LINE);
    kmm_resource_t *r = aligned_alloc(LINE, whole);
    if (!r)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for the resource", noun);
    memset(r, 0, whole);
    kmm__resource_init(r, ops, noun, upstream);
    *out = r;
    return 0;
}

int kmm__pass_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                       void **out)
{
    return r->upstream->ops->allocate(r->upstream, bytes, alignment, stream,
                                      out); /* cannot fail: the arguments have been checked */
}

int kmm__pass_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    return kmm_resource_deallocate(r->upstream, p, bytes, stream);
}

int kmm__pass_size(kmm_resource_t *r, const void *p, size_t *bytes)
{
    return kmm_resource_size(r->upstream, p, bytes);
}

int kmm__pass_usage(kmm_resource_t *r, kmm_resource_usage_t *out)
{
    return kmm_resource_usage(r->upstream, out);
}

int kmm__free_destroy(kmm_resource_t *r)
{
    free(r);
    return 0;
}
