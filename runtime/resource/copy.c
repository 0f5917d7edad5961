/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills of a resource's memory. Host memory that no stream uses is copied by the
 * processor; all other copies go to the driver, on the stream. */
#include "resource/copy.h"

#include <string.h>

#include "resource/driver.h"

/* True if no stream's work uses the memory. The processor then copies and fills it itself. */
static bool is_plain(const kmm_resource_t *r)
{
    return r->kind == KMM_MEMORY_HOST && !r->order;
}

int kmm__copy(const kmm_resource_t *r, void *dst, const void *src, size_t bytes,
              kmm_stream_t stream)
{
    if (bytes == 0)
        return 0;
    if (is_plain(r)) {
        memmove(dst, src, bytes);
        return 0;
    }
    int status = kmm__driver_enter(r->device);
    if (status)
        return status;
    CUresult result = kmm__driver()->MemcpyAsync((CUdeviceptr)(uintptr_t)dst,
                                                 (CUdeviceptr)(uintptr_t)src, bytes, stream);
    status = kmm__driver_check(result, "cuMemcpyAsync", r->device);
    kmm__driver_leave();
    return status;
}

int kmm__fill(const kmm_resource_t *r, void *dst, int value, size_t bytes, kmm_stream_t stream)
{
    if (bytes == 0)
        return 0;
    if (is_plain(r)) {
        memset(dst, value, bytes);
        return 0;
    }
    int status = kmm__driver_enter(r->device);
    if (status)
        return status;
    CUresult result = kmm__driver()->MemsetD8Async((CUdeviceptr)(uintptr_t)dst,
                                                   (unsigned char)value, bytes, stream);
    status = kmm__driver_check(result, "cuMemsetD8Async", r->device);
    kmm__driver_leave();
    return status;
}

int kmm__settle(const kmm_resource_t *r, kmm_stream_t stream)
{
    if (is_plain(r))
        return 0;
    int status = kmm__driver_enter(r->device);
    if (status)
        return status;
    status = kmm__driver_check(kmm__driver()->StreamSynchronize(stream), "cuStreamSynchronize",
                               r->device);
    kmm__driver_leave();
    return status;
}
