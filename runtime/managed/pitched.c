/* SPDX-License-Identifier: Apache-2.0 */
/* Three-dimensional memory of managed programs (wrap.h): rows are padded to a pitch, and slices
 * lie one after the other. */
#include "managed/wrap.h"

static char *row_of(const endpoint_t *at, size_t y, size_t z)
{
    return (char *)at->memory.p + ((at->z + z) * at->memory.height + at->y + y) * at->memory.pitch +
           at->x;
}

int wrap(Malloc3D)(pitched_t *out, extent_t extent)
{
    size_t pitch = (extent.width + PITCH - 1) / PITCH * PITCH;
    void *p;
    if (!out)
        return KMM_CUDA_INVALID_VALUE;
    if (kmm_task_active() || internal(is_absent)())
        return real(Malloc3D)(out, extent);
    int error = internal(malloc)(&p, pitch * extent.height * extent.depth);
    if (!error)
        *out = (pitched_t){p, pitch, extent.width, extent.height};
    return error;
}

static int set(pitched_t memory, int value, extent_t extent)
{
    int error = 0;
    for (size_t z = 0; z < extent.depth && !error; z++)
        for (size_t y = 0; y < extent.height && !error; y++)
            error = kmm_cuda_memset((char *)memory.p + (z * memory.height + y) * memory.pitch,
                                    value, extent.width);
    return error;
}

int wrap(Memset3D)(pitched_t memory, int value, extent_t extent)
{
    NATIVE(Memset3D, (memory, value, extent));
    if (kmm_cuda_is_managed(memory.p))
        return set(memory, value, extent);
    stream_t own = internal(stream)(NULL);
    return own ? real(Memset3DAsync)(memory, value, extent, own)
               : real(Memset3D)(memory, value, extent);
}

int wrap(Memset3DAsync)(pitched_t memory, int value, extent_t extent, stream_t s)
{
    NATIVE(Memset3DAsync, (memory, value, extent, s));
    if (kmm_cuda_is_managed(memory.p))
        return set(memory, value, extent);
    s = internal(stream)(s);
    return real(Memset3DAsync)(memory, value, extent, s);
}

static int is_managed_copy(const copy_t *c)
{
    return (!c->from.array && kmm_cuda_is_managed(c->from.memory.p)) ||
           (!c->to.array && kmm_cuda_is_managed(c->to.memory.p));
}

static int copy_slices(const copy_t *c, stream_t s, const char *call)
{
    int error = 0;
    if (c->from.array || c->to.array)
        return internal(not_supported)(
            call); /* refused: a copy between a CUDA array and managed memory */
    if (!c->extent.width || !c->extent.height)
        return 0;
    internal(await_others)(s);
    for (size_t z = 0; z < c->extent.depth && !error; z++)
        error =
            internal(copy_2d)(row_of(&c->to, 0, z), c->to.memory.pitch, row_of(&c->from, 0, z),
                              c->from.memory.pitch, c->extent.width, c->extent.height, c->kind, s);
    return error;
}

int wrap(Memcpy3D)(const copy_t *c)
{
    NATIVE(Memcpy3D, (c));
    if (c && is_managed_copy(c))
        return copy_slices(c, NULL, RUNTIME "Memcpy3D with an array");
    stream_t own = internal(task_default)();
    if (own)
        return internal(wait_for)(own, real(Memcpy3DAsync)(c, own));
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : real(Memcpy3D)(c);
}

int wrap(Memcpy3DAsync)(const copy_t *c, stream_t s)
{
    NATIVE(Memcpy3DAsync, (c, s));
    if (c && is_managed_copy(c))
        return copy_slices(c, s, RUNTIME "Memcpy3DAsync with an array");
    s = internal(stream)(s);
    return real(Memcpy3DAsync)(c, s);
}
