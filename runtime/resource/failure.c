/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the program what to do when memory has run out. */
#include "resource/adaptor.h"

typedef struct failure {
    kmm_resource_t head;
    kmm_failure_fn fn;
    void *context;
} failure_t;

static int failure_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                            void **out)
{
    const failure_t *f = (const failure_t *)r;
    for (;;) {
        int status = kmm_resource_allocate(r->upstream, bytes, alignment, stream, out);
        if (status != KMM_E_MEMORY || !f->fn(f->context, bytes))
            return status;
    }
}

static const kmm__resource_ops_t failure_ops = {
    .allocate = failure_allocate,
    .deallocate = kmm__pass_deallocate,
    .size = kmm__pass_size,
    .usage = kmm__pass_usage,
    .destroy = kmm__free_destroy,
};

KMM__API int kmm_failure_resource_create(kmm_resource_t *upstream, kmm_failure_fn fn, void *context,
                                         kmm_resource_t **out)
{
    if (!upstream || !fn || !out)
        return kmm__resource_fail(
            KMM_E_INVALID, "failure: no upstream, no function, or nowhere to put the resource");
    int status = kmm__adaptor_create(&failure_ops, "failure", sizeof(failure_t), upstream, out);
    if (status)
        return status;
    failure_t *f = (failure_t *)*out;
    f->fn = fn;
    f->context = context;
    return 0;
}
