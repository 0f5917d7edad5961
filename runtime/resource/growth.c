/* SPDX-License-Identifier: Apache-2.0 */
/* Takes memory from upstream. Decides how much: usually as much as the pool holds. */
#include "resource/growth.h"

#include "resource/pool_check.h"
#include "resource/segment.h"

static const size_t MIB = (size_t)1 << 20;
enum { GROWTH_MOST = 1024 /* MiB */, MAPPED_GROWTH_PART = 16 };

/* Returns the default growth: as much as the pool holds, so that it has few segments, and the rest
 * that is left over in each matters little. If frames can be gathered such a rest does not matter,
 * and the pool grows by 1/16. */
static size_t usual_growth(const kmm__pool_t *p)
{
    if (p->head.upstream->mapper)
        return kmm__round_up(p->held / MAPPED_GROWTH_PART + 1,
                             p->head.upstream->mapper->frame_bytes);
    size_t more = p->held < GROWTH_MOST * MIB ? p->held : GROWTH_MOST * MIB;
    return more > p->growth_least ? more : p->growth_least;
}

/* Returns the unit of growth. On frames it is a frame, since the pool would pay for a whole one
 * anyway. */
static size_t growth_unit(const kmm__pool_t *p)
{
    const kmm__mapper_t *m = p->head.upstream->mapper;
    return m && m->frame_bytes > MIB ? m->frame_bytes : MIB;
}

/* Returns the bytes to take from upstream for a request, at least `least`. 0: the pool's maximum
 * forbids it. */
static size_t growth(const kmm__pool_t *p, size_t least)
{
    if (least > p->options.maximum_bytes - p->held)
        return 0;
    size_t more = p->options.growth_bytes ? p->options.growth_bytes : usual_growth(p);
    if (more < least)
        more = least > SIZE_MAX - growth_unit(p) ? least : kmm__round_up(least, growth_unit(p));
    return more < p->options.maximum_bytes - p->held ? more : p->options.maximum_bytes - p->held;
}

static int add_memory(kmm__pool_t *p, void *memory, size_t bytes, kmm__pool_stream_t *stream,
                      kmm_stream_t handle)
{
    kmm__lock_take(&p->lock);
    int status = kmm__segment_add(p, memory, bytes, p->head.upstream->ordered ? stream : NULL);
    if (status)
        p->held -= bytes;
    kmm__pool_unlock(p);
    if (status)
        kmm__resource_give_back(p->head.upstream, memory, bytes, handle);
    return status;
}

/* Takes `bytes` from upstream. `held` counts them already. */
int kmm__pool_grow_by(kmm__pool_t *p, size_t bytes, kmm__pool_stream_t *stream, kmm_stream_t handle)
{
    void *memory;
    int status = kmm_resource_allocate(p->head.upstream, bytes, 0, handle, &memory);
    if (status == 0)
        return add_memory(p, memory, bytes, stream, handle);
    kmm__lock_take(&p->lock);
    p->held -= bytes;
    kmm__pool_unlock(p);
    return status;
}

/* Takes memory from upstream: the default growth, or `least` bytes if upstream has no more. */
int kmm__pool_grow(kmm__pool_t *p, size_t least, kmm__pool_stream_t *stream, kmm_stream_t handle)
{
    kmm__lock_take(&p->lock);
    size_t bytes = growth(p, least);
    p->held += bytes;
    kmm__pool_unlock(p);
    if (bytes == 0)
        return KMM_E_MEMORY;
    int status = kmm__pool_grow_by(p, bytes, stream, handle);
    if (status != KMM_E_MEMORY || bytes == least)
        return status;
    kmm__lock_take(&p->lock);
    bool allowed = least <= p->options.maximum_bytes - p->held;
    p->held += allowed ? least : 0;
    kmm__pool_unlock(p);
    return allowed ? kmm__pool_grow_by(p, least, stream, handle) : KMM_E_MEMORY;
}
