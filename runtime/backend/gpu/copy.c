/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills on a GPU. */
#include "backend/gpu/copy.h"

#include "backend/gpu/device.h"
#include "backend/gpu/stream.h"

static const kmm__gpu_device_t *device_of(const kmm__gpu_t *gpu)
{
    return gpu ? &gpu->device : NULL;
}

static int copy_run(const kmm__stream_t *s, const kmm__copy_t *c, int64_t row, size_t bytes)
{
    kmm__addr_t dst = c->dst + (uint64_t)(row * c->dst_pitch),
                src = c->src + (uint64_t)(row * c->src_pitch);
    if (c->dst_gpu && c->src_gpu && c->dst_gpu != c->src_gpu)
        return s->gpu->driver->copy_peer(s->handle, dst, &c->dst_gpu->device, src,
                                         &c->src_gpu->device, bytes);
    if (c->dst_gpu && c->src_gpu)
        return KMM__GPU_TRY(s->gpu, MemcpyDtoD, (dst, src, bytes, s->handle));
    if (c->dst_gpu)
        return KMM__GPU_TRY(s->gpu, MemcpyHtoD,
                            (dst, (const void *)(uintptr_t)src, bytes, s->handle));
    return KMM__GPU_TRY(s->gpu, MemcpyDtoH, ((void *)(uintptr_t)dst, src, bytes, s->handle));
}

/* True if the driver's copy of rows accepts this side. Between two rows there may be room for a
 * frame that is not mapped. CUDA refuses a copy across unmapped memory, even if no row lies there.
 * HIP refuses rows that do not lie in one frame; rows in one granule do. */
static bool can_have_rows(const kmm__stream_t *s, const kmm__gpu_t *side, kmm__addr_t at,
                          int64_t pitch, const kmm__copy_t *c)
{
    if (pitch > s->gpu->device.max_pitch)
        return false;
    if (!side || !side->device.maps)
        return true;
    kmm__addr_t last = at + (kmm__addr_t)((c->rows - 1) * pitch + c->width - 1);
    if (side->driver->rows_in_a_frame && at / side->granule != last / side->granule)
        return false;
    return pitch - c->width < (int64_t)side->granule;
}

int kmm__gpu_copy(kmm__stream_t *s, const kmm__copy_t *c)
{
    int error = 0;
    bool entered = kmm__gpu_enter(s->gpu);
    if (c->rows == 1)
        error = copy_run(s, c, 0, (size_t)c->width);
    else if (c->dst_pitch == c->width && c->src_pitch == c->width)
        error = copy_run(s, c, 0, (size_t)(c->width * c->rows));
    else if (can_have_rows(s, c->dst_gpu, c->dst, c->dst_pitch, c) &&
             can_have_rows(s, c->src_gpu, c->src, c->src_pitch, c))
        error =
            s->gpu->driver->copy_rows(s->handle, c, device_of(c->dst_gpu), device_of(c->src_gpu));
    else
        for (int64_t row = 0; row < c->rows && !error; row++)
            error = copy_run(s, c, row, (size_t)c->width);
    kmm__gpu_leave(s->gpu, entered);
    return error;
}

int kmm__gpu_fill(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes)
{
    bool entered = kmm__gpu_enter(s->gpu);
    int error = KMM__GPU_TRY(s->gpu, MemsetD8, (dst, (unsigned char)value, bytes, s->handle));
    kmm__gpu_leave(s->gpu, entered);
    return error;
}
