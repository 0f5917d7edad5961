/* SPDX-License-Identifier: Apache-2.0 */
/* Moves managed memory to its device as it is allocated, so that the first kernel does not fault.
 */
#include "resource/adaptor.h"
#include "resource/driver.h"

static CUresult prefetch(int device, void *p, size_t bytes, kmm_stream_t stream)
{
    const CUmemLocation to = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return kmm__driver()->MemPrefetchAsync((CUdeviceptr)(uintptr_t)p, bytes, to, 0, stream);
}

static int prefetch_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                             void **out)
{
    int status = kmm_resource_allocate(r->upstream, bytes, alignment, stream, out);
    if (status || r->kind != KMM_MEMORY_MANAGED)
        return status;
    status = kmm__driver_enter(r->device);
    if (status == 0) {
        CUresult result = prefetch(r->device, *out, bytes, stream);
        /* A device without page faults has nothing to prefetch. */
        if (result != CUDA_ERROR_INVALID_DEVICE && result != CUDA_ERROR_NOT_SUPPORTED)
            status = kmm__driver_check(result, "cuMemPrefetchAsync", r->device);
        kmm__driver_leave();
    }
    if (status) {
        kmm_resource_deallocate(r->upstream, *out, bytes, stream);
        *out = NULL;
    }
    return status;
}

static const kmm__resource_ops_t prefetch_ops = {
    .allocate = prefetch_allocate,
    .deallocate = kmm__pass_deallocate,
    .size = kmm__pass_size,
    .usage = kmm__pass_usage,
    .destroy = kmm__free_destroy,
};

KMM__API int kmm_prefetch_resource_create(kmm_resource_t *upstream, kmm_resource_t **out)
{
    return kmm__adaptor_create(&prefetch_ops, "prefetch", sizeof(kmm_resource_t), upstream, out);
}
