/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small arrays share frames. A frame is the least that a driver maps, 2 MiB on a GPU; an array of some hundred bytes would cost
 * as much memory, and as much time to map. So arrays far smaller than that get places in slabs: frames that stay mapped, and
 * out of which nothing is evicted. As slabs never make room, they may take only a part of a device; beyond it small arrays get
 * frames of their own.
 */
#include <stdlib.h>
#include <string.h>

#include "../internal.h"

/* Places are multiples of UNIT. Arrays up to 1/ARRAY_PART of a slab are packed, in at most 1/DEVICE_PART of a device. */
enum { UNIT = 256, ARRAY_PART = 4, DEVICE_PART = 16 };

struct kmm__slab {
    kmm__slab_t *next;
    kmm__addr_t window;
    kmm__frame_handle_t frame;
    uint32_t shared; /* devices (bits) that have access to it */
    uint32_t hint;   /* where the last place ended */
    bool taken[];    /* each unit */
};

static uint64_t slab_bytes(const kmm__device_t *d)
{
    return d->info.granularity;
}

static uint32_t units_of(uint64_t bytes)
{
    return (uint32_t)((bytes + UNIT - 1) / UNIT);
}

/* The first of n units in a row that are free, from `begin` on; `end` when there are none. */
static uint32_t find_units(const kmm__slab_t *s, uint32_t begin, uint32_t end, uint32_t n)
{
    uint32_t free_units = 0;
    for (uint32_t k = begin; k < end; k++) {
        free_units = s->taken[k] ? 0 : free_units + 1;
        if (free_units == n)
            return k + 1 - n;
    }
    return end;
}

static bool slab_take(kmm__device_t *d, kmm__slab_t *s, uint32_t n, kmm__addr_t *out)
{
    uint32_t end = units_of(slab_bytes(d)), at = find_units(s, s->hint, end, n);
    if (at == end)
        at = find_units(s, 0, end, n);
    if (at == end)
        return false;
    memset(s->taken + at, true, n * sizeof(*s->taken));
    s->hint = at + n;
    *out = s->window + (kmm__addr_t)at * UNIT;
    return true;
}

/* By the device's own thread; unlocks meanwhile. NULL when there is no room for another one. */
static kmm__slab_t *slab_create(kmm__device_t *d)
{
    kmm_runtime_t *rt = d->runtime;
    uint64_t bytes = slab_bytes(d);
    if (d->packed + bytes > d->limit / DEVICE_PART || d->used + bytes > d->limit)
        return NULL;
    kmm__slab_t *s = kmm__alloc(sizeof(*s) + units_of(bytes) * sizeof(*s->taken));
    pthread_mutex_unlock(&rt->lock);
    int error = d->backend->window_reserve(d->gpu, bytes, &s->window);
    if (!error && (error = d->backend->frame_create(d->gpu, bytes, &s->frame)))
        d->backend->window_release(d->gpu, s->window, bytes);
    if (!error && (error = d->backend->frame_map(d->gpu, s->window, s->frame, bytes))) {
        d->backend->frame_destroy(d->gpu, s->frame, bytes);
        d->backend->window_release(d->gpu, s->window, bytes);
    }
    pthread_mutex_lock(&rt->lock);
    if (error) {
        free(s);
        return NULL;
    }
    d->used += bytes;
    d->packed += bytes;
    s->next = d->slabs;
    return d->slabs = s;
}

bool kmm__pack_take(kmm__device_t *d, uint64_t bytes, kmm__addr_t *out)
{
    if (bytes > slab_bytes(d) / ARRAY_PART)
        return false;
    for (kmm__slab_t *s = d->slabs; s; s = s->next)
        if (slab_take(d, s, units_of(bytes), out))
            return true;
    kmm__slab_t *s = slab_create(d);
    return s && slab_take(d, s, units_of(bytes), out);
}

static kmm__slab_t *slab_of(const kmm__device_t *d, kmm__addr_t at)
{
    kmm__slab_t *s = d->slabs;
    while (at < s->window || at >= s->window + slab_bytes(d))
        s = s->next;
    return s;
}

void kmm__pack_return(kmm__device_t *d, kmm__addr_t at, uint64_t bytes)
{
    kmm__slab_t *s = slab_of(d, at);
    uint32_t first = (uint32_t)((at - s->window) / UNIT);
    memset(s->taken + first, false, units_of(bytes) * sizeof(*s->taken));
    if (first < s->hint)
        s->hint = first;
}

void kmm__pack_share(kmm__device_t *d, kmm__addr_t at, kmm__device_t *to)
{
    kmm_runtime_t *rt = d->runtime;
    pthread_mutex_lock(&rt->lock);
    kmm__slab_t *s = slab_of(d, at);
    bool shared = s->shared >> to->index & 1;
    s->shared |= 1u << to->index;
    pthread_mutex_unlock(&rt->lock);
    if (!shared)
        d->backend->frame_share(d->gpu, s->window, slab_bytes(d), to->gpu);
}

void kmm__pack_close(kmm__device_t *d)
{
    uint64_t bytes = slab_bytes(d);
    while (d->slabs) {
        kmm__slab_t *s = d->slabs;
        d->slabs = s->next;
        d->backend->frame_unmap(d->gpu, s->window, bytes);
        d->backend->frame_destroy(d->gpu, s->frame, bytes);
        d->backend->window_release(d->gpu, s->window, bytes);
        free(s);
    }
}
