/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slabs, which small arrays share. A frame is the least that a driver maps, 2 MiB on a GPU. As a
 * frame, an array of some hundred bytes would take as much memory, and as much time to map. So
 * arrays far smaller than a frame are allocated by a pool of memory resources, whose source are
 * slabs: frames that stay mapped and are not evicted.
 *
 * Slabs never make room for other data while an array is in them. So they may take only a part of a
 * device. Beyond that, small arrays get frames of their own.
 *
 * Memory is returned when nothing uses it, so the pool needs no streams. The pool calls its source
 * without its own lock. The source unlocks the runtime while it calls the driver.
 */
#include "memory/residency/pack.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "resource/pool.h"

enum { ARRAY_PART = 4 }; /* arrays up to 1/ARRAY_PART of a slab are packed */

/* A frame with a window of its own. */
typedef struct slab {
    struct slab *next;
    kmm__addr_t name;   /* what the pool calls it, where it was mapped first */
    kmm__addr_t window; /* where it is mapped */
    kmm__frame_handle_t frame;
    uint32_t shared; /* other devices (bits) that have access */
    uint32_t arrays; /* arrays that lie in it */
} slab_t;

struct kmm__pack {
    kmm_resource_t *source, *pool;
    slab_t *slabs;
    uint64_t bytes; /* bytes of slabs */
    bool returned;  /* memory was returned since slabs were last released */
    bool bounded;   /* slabs take at most 1/KMM__SLABS_PART of the device */
};

static uint64_t slab_bytes(const kmm__device_t *d)
{
    return d->info.granularity;
}

/* ---- The source: locked, by the device's own thread; unlocks meanwhile ---- */

static int slab_map(kmm__device_t *d, slab_t *s)
{
    const uint64_t bytes = slab_bytes(d);
    int error = d->backend->window_reserve(d->gpu, bytes, &s->window);
    if (error)
        return error;
    error = d->backend->frame_create(d->gpu, bytes, &s->frame);
    if (!error && (error = d->backend->frame_map(d->gpu, s->window, s->frame, bytes)))
        d->backend->frame_destroy(d->gpu, s->frame, bytes);
    if (error)
        d->backend->window_release(d->gpu, s->window, bytes);
    return error;
}

/* If the driver does not unmap the slab, its memory stays in use. */
static int slab_unmap(kmm__device_t *d, const slab_t *s)
{
    const uint64_t bytes = slab_bytes(d);
    int error = d->backend->frame_unmap(d->gpu, s->window, bytes);
    if (kmm__stays_mapped(d, error))
        return kmm__error_set(error, "%s: %s", d->info.name, d->backend->error_text(d->backend));
    d->backend->frame_destroy(d->gpu, s->frame, bytes);
    d->backend->window_release(d->gpu, s->window, bytes);
    if (s->name != s->window)
        d->backend->window_release(d->gpu, s->name, bytes);
    return 0;
}

/* Makes a slab. KMM_E_MEMORY: there is no room for it. */
static int slab_get(void *context, size_t size, kmm_stream_t stream, void **out)
{
    kmm__device_t *d = context;
    kmm_runtime_t *rt = d->runtime;
    const uint64_t bytes = slab_bytes(d);
    (void)stream;
    const uint64_t all = d->memory->pack->bytes + bytes;
    if (size != bytes || (d->memory->pack->bounded && all > d->memory->limit / KMM__SLABS_PART) ||
        all + d->memory->promised > d->memory->limit || d->memory->used + bytes > d->memory->limit)
        return KMM_E_MEMORY;
    slab_t *s = kmm__alloc(sizeof(*s));
    kmm__memory_take(d, bytes);
    kmm__trace_memory(d);
    d->memory->pack->bytes += bytes; /* a launch that is submitted meanwhile counts on the rest */
    pthread_mutex_unlock(&rt->lock);
    int error = slab_map(d, s);
    pthread_mutex_lock(&rt->lock);
    if (error) {
        d->memory->used -= bytes;
        d->memory->pack->bytes -= bytes;
        free(s);
        return KMM_E_MEMORY;
    }
    s->name = s->window;
    s->next = d->memory->pack->slabs;
    d->memory->pack->slabs = s;
    *out = (void *)(uintptr_t)s->window;
    return 0;
}

static int slab_put(void *context, void *p, size_t size, kmm_stream_t stream)
{
    kmm__device_t *d = context;
    slab_t **at = &d->memory->pack->slabs;
    (void)size, (void)stream;
    while ((*at)->name != (kmm__addr_t)(uintptr_t)p)
        at = &(*at)->next;
    slab_t *s = *at;
    *at = s->next;
    pthread_mutex_unlock(&d->runtime->lock);
    int error = slab_unmap(d, s);
    free(s);
    pthread_mutex_lock(&d->runtime->lock);
    if (error) {
        kmm__error_note(d->runtime, error, "memory of small arrays could not be unmapped: %s",
                        kmm__error_get());
        return 0;
    }
    d->memory->used -= slab_bytes(d);
    d->memory->pack->bytes -= slab_bytes(d);
    kmm__trace_memory(d);
    return 0;
}

/* ---- Memory of small arrays ---- */

/* Makes the pool, without a cache, since cached memory could keep a slab in use. NULL: the host has
 * no memory for it. */
static struct kmm__pack *pack_create(kmm__device_t *d)
{
    const kmm_callback_options_t source = {.context = d,
                                           .allocate = slab_get,
                                           .deallocate = slab_put,
                                           .kind = KMM_MEMORY_DEVICE,
                                           .device = -1};
    const kmm_pool_options_t pool = {.growth_bytes = slab_bytes(d), .cache_bytes = SIZE_MAX};
    struct kmm__pack *p = kmm__alloc(sizeof(*p));
    p->bounded = true;
    if (kmm_callback_resource_create(&source, &p->source) == 0 &&
        kmm__pool_create(p->source, &pool, KMM__POOL_ALONE, &p->pool) == 0)
        return p;
    kmm_resource_destroy(p->source);
    free(p);
    return NULL;
}

/* Returns the slab in which the address lies: one of its name, or of where it is mapped. */
static slab_t *slab_of(const kmm__device_t *d, kmm__addr_t at, bool is_name)
{
    slab_t *s = d->memory->pack->slabs;
    while (at - (is_name ? s->name : s->window) >= slab_bytes(d))
        s = s->next;
    return s;
}

bool kmm__pack_take(kmm__device_t *d, uint64_t bytes, kmm__addr_t *out)
{
    void *place;
    if (bytes > slab_bytes(d) / ARRAY_PART)
        return false;
    if (!d->memory->pack && !(d->memory->pack = pack_create(d)))
        return false;
    if (kmm_resource_allocate(d->memory->pack->pool, bytes ? bytes : 1, 0, NULL, &place))
        return false;
    *out = (kmm__addr_t)(uintptr_t)place;
    slab_t *s = slab_of(d, *out, true);
    if (s->arrays == 0 &&
        kmm__pack_used_bytes(d) + slab_bytes(d) + d->memory->promised > d->memory->limit) {
        /* a launch that was accepted counts on the unused slab */
        kmm_resource_deallocate(d->memory->pack->pool, place, KMM_SIZE_RECORDED, NULL);
        d->memory->pack->returned = true;
        return false;
    }
    s->arrays++;
    *out += s->window - s->name;
    return true;
}

void kmm__pack_return(kmm__device_t *d, kmm__addr_t at)
{
    slab_t *s = slab_of(d, at, false);
    s->arrays--;
    at += s->name - s->window;
    kmm_resource_deallocate(d->memory->pack->pool, (void *)(uintptr_t)at, KMM_SIZE_RECORDED, NULL);
    d->memory->pack->returned = true;
}

void kmm__pack_unbind(kmm__device_t *d)
{
    if (d->memory->pack || (d->memory->pack = pack_create(d)))
        d->memory->pack->bounded = false;
}

/* Maps a slab at a new window. All else may have failed before: then its name is its window. */
static int slab_move(kmm__device_t *d, slab_t *s)
{
    const uint64_t bytes = slab_bytes(d);
    kmm__addr_t window;
    int error = d->backend->window_reserve(d->gpu, bytes, &window);
    if (error)
        return error;
    error = d->backend->frame_unmap(d->gpu, s->window, bytes);
    if (!error)
        error = d->backend->frame_map(d->gpu, window, s->frame, bytes);
    if (error)
        d->backend->window_release(d->gpu, window, bytes);
    else
        s->window = window;
    s->shared = 0; /* access belongs to the mapping */
    return error;
}

int kmm__pack_move(kmm__device_t *d)
{
    struct kmm__pack *p = d->memory->pack;
    int error = 0;
    if (!p)
        return 0;
    p->bounded = true;
    for (slab_t *s = p->slabs; s && !error; s = s->next)
        error = slab_move(d, s);
    return error;
}

static int slab_return(kmm__device_t *d, slab_t *s)
{
    const uint64_t bytes = slab_bytes(d);
    const kmm__addr_t window = s->window;
    if (window == s->name)
        return 0;
    int error = d->backend->frame_unmap(d->gpu, window, bytes);
    if (!error)
        error = d->backend->frame_map(d->gpu, s->name, s->frame, bytes);
    s->window = s->name;
    s->shared = 0;
    d->backend->window_release(d->gpu, window, bytes);
    return error;
}

int kmm__pack_return_home(kmm__device_t *d)
{
    int error = 0;
    for (slab_t *s = d->memory->pack ? d->memory->pack->slabs : NULL; s && !error; s = s->next)
        error = slab_return(d, s);
    return error;
}

kmm__addr_t kmm__pack_name(const kmm__device_t *d, kmm__addr_t at)
{
    const slab_t *s = slab_of(d, at, false);
    return at - s->window + s->name;
}

kmm__addr_t kmm__pack_moved(const kmm__device_t *d, kmm__addr_t name)
{
    const slab_t *s = slab_of(d, name, true);
    return name - s->name + s->window;
}

bool kmm__pack_trim(kmm__device_t *d)
{
    const uint64_t used = d->memory->used;
    if (!d->memory->pack || !d->memory->pack->returned)
        return false;
    d->memory->pack->returned = false;
    kmm_resource_trim(d->memory->pack->pool, 0);
    return d->memory->used < used;
}

uint64_t kmm__pack_bytes(const kmm__device_t *d)
{
    return d->memory->pack ? d->memory->pack->bytes : 0;
}

uint64_t kmm__pack_used_bytes(const kmm__device_t *d)
{
    uint64_t bytes = 0;
    for (const slab_t *s = d->memory->pack ? d->memory->pack->slabs : NULL; s; s = s->next)
        bytes += s->arrays ? slab_bytes(d) : 0;
    return bytes;
}

int kmm__pack_share(kmm__device_t *d, kmm__addr_t at, kmm__device_t *to)
{
    kmm_runtime_t *rt = d->runtime;
    pthread_mutex_lock(&rt->lock);
    slab_t *s = slab_of(d, at, false);
    bool shared = s->shared >> to->index & 1;
    const kmm__addr_t window = s->window;
    s->shared |= 1u << to->index;
    pthread_mutex_unlock(&rt->lock);
    int error = shared ? 0 : d->backend->frame_share(d->gpu, window, slab_bytes(d), to->gpu);
    if (!error || error == KMM_E_UNSUPPORTED)
        return error;
    pthread_mutex_lock(&rt->lock);
    slab_of(d, at, false)->shared &= ~(1u << to->index); /* the next copy asks again */
    pthread_mutex_unlock(&rt->lock);
    return error;
}

void kmm__pack_close(kmm__device_t *d)
{
    struct kmm__pack *p = d->memory->pack;
    if (!p)
        return;
    pthread_mutex_lock(&d->runtime->lock);
    kmm_resource_destroy(p->pool);
    kmm_resource_destroy(p->source);
    pthread_mutex_unlock(&d->runtime->lock);
    free(p);
    d->memory->pack = NULL;
}
