/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that are mapped at their names: making, sharing, moving and freeing them. */
#include "memory/residency/named.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "memory/coherence.h"
#include "memory/holders.h"
#include "memory/lifetime.h"
#include "memory/residency/foresight.h"
#include "memory/residency/frame.h"
#include "memory/residency/pack.h"
#include "memory/summary.h"
#include "task/users.h"

/* KEPT arrays that the program has freed stay mapped for the next ones of their sizes, as long as
 * they take at most 1/KEPT_PART of the device. */
enum { KEPT = 64, KEPT_PART = 64 };

/* held while memory of native arrays is allocated or freed; taken before the runtime's lock */
static pthread_mutex_t allocating = PTHREAD_MUTEX_INITIALIZER;
static kmm__array_t *kept[KEPT]; /* the latest last; guarded by `allocating` */
static uint32_t kept_count;
static uint64_t kept_bytes;

static int driver_error(const kmm__device_t *d, int error)
{
    return kmm__error_set(error, "%s: %s", d->info.name, d->backend->error_text(d->backend));
}

/* Gives the frames of an array back to the driver. The first `count` have memory, and the first
 * `mapped` of them are mapped at the window. Not locked. */
static void frames_drop(kmm__device_t *d, kmm__array_t *a, kmm__addr_t window, uint32_t count,
                        uint32_t mapped)
{
    const kmm__residence_t *r = &a->residence[d->index];
    for (uint32_t k = 0; k < count; k++) {
        const uint64_t bytes = kmm__array_frame_size(a, k);
        if (k < mapped)
            d->backend->frame_unmap(d->gpu, window + k * a->frame_bytes, bytes);
        d->backend->frame_destroy(d->gpu, r->frames[k].handle, bytes);
    }
}

/* Allocates all frames of an array and maps them at `window`. Not locked. */
static int frames_make(kmm__device_t *d, kmm__array_t *a, kmm__addr_t window)
{
    const kmm__residence_t *r = &a->residence[d->index];
    int error = 0;
    for (uint32_t k = 0; k < a->frame_count && !error; k++) {
        const uint64_t bytes = kmm__array_frame_size(a, k);
        error = d->backend->frame_create(d->gpu, bytes, &r->frames[k].handle);
        if (!error && (error = d->backend->frame_map_without_access(
                           d->gpu, window + k * a->frame_bytes, r->frames[k].handle, bytes)))
            d->backend->frame_destroy(d->gpu, r->frames[k].handle, bytes);
        if (error)
            frames_drop(d, a, window, k, k);
    }
    if (!error && (error = d->backend->frames_allow(d->gpu, window, kmm__array_span(a))))
        frames_drop(d, a, window, a->frame_count, a->frame_count);
    return error;
}

/* An array with frames of its own. The window is the name; it has a granule more, so that the
 * address behind the array is its own. */
static int place_in_frames(kmm__array_t *a)
{
    kmm__device_t *d = a->home;
    kmm_runtime_t *rt = d->runtime;
    const uint64_t bytes = kmm__array_span(a), reserved = bytes + d->info.granularity;
    kmm__addr_t window;
    if (d->memory->is_bounded && d->memory->used + bytes > d->memory->limit)
        return KMM_E_MEMORY;
    kmm__frame_t *frames = kmm__frames_table(a, d);
    kmm__memory_take(d, bytes);
    pthread_mutex_unlock(&rt->lock);
    int error = d->backend->window_reserve(d->gpu, reserved, &window);
    if (!error && (error = frames_make(d, a, window)))
        d->backend->window_release(d->gpu, window, reserved);
    pthread_mutex_lock(&rt->lock);
    if (error) {
        d->memory->used -= bytes;
        free(frames);
        a->residence[d->index].frames = NULL;
        return error == KMM_E_MEMORY ? error : driver_error(d, error);
    }
    if (d->memory->limit < d->memory->used)
        d->memory->limit = d->memory->used; /* the driver has more than was planned to be used */
    if (d->memory->most < d->memory->limit)
        d->memory->most = d->memory->limit;
    a->base = (char *)(uintptr_t)window;
    a->reserved = reserved;
    a->residence[d->index].window = window;
    for (uint32_t k = 0; k < a->frame_count; k++) {
        kmm__frame_begin_mapping(&frames[k]);
        kmm__frame_mapped(&frames[k], true);
    }
    return 0;
}

static int place(kmm__array_t *a)
{
    kmm__device_t *d = a->home;
    kmm__residence_t *r = &a->residence[d->index];
    if (!kmm__pack_take(d, a->bytes + 1, &r->window)) /* one more: the address behind the array */
        return place_in_frames(a);
    r->is_packed = true;
    a->base = (char *)(uintptr_t)r->window;
    return 0;
}

/* Locked, with `allocating`; unlocks meanwhile: frees an array that is mapped at its name. */
static void destroy(kmm__array_t *a)
{
    kmm__device_t *d = a->home;
    kmm__residence_t *r = &a->residence[d->index];
    if (r->is_packed) {
        kmm__pack_return(d, r->window);
        kmm__pack_trim(d);
    } else {
        for (uint32_t k = 0; k < a->frame_count; k++) {
            kmm__frame_begin_unmapping(&r->frames[k]);
            kmm__uses_free(&r->frames[k]);
        }
        pthread_mutex_unlock(&d->runtime->lock);
        frames_drop(d, a, r->window, a->frame_count, a->frame_count);
        pthread_mutex_lock(&d->runtime->lock);
        for (uint32_t k = 0; k < a->frame_count; k++)
            kmm__frame_unmapped(&r->frames[k]);
        d->memory->used -= kmm__array_span(a);
        free(r->frames);
    }
    *r = (kmm__residence_t){0};
    kmm__array_end(a);
}

/* Frees the oldest array that is kept. The same rules. */
static void kept_drop(void)
{
    kmm__array_t *a = kept[0];
    memmove(kept, kept + 1, --kept_count * sizeof(kept[0]));
    kept_bytes -= a->bytes;
    destroy(a);
}

static void kept_drop_all(void)
{
    while (kept_count)
        kept_drop();
}

/* Takes a kept array of that size and makes it a new one. NULL: there is none. */
static kmm__array_t *kept_take(kmm_runtime_t *rt, const kmm__device_t *d, size_t bytes)
{
    for (uint32_t k = kept_count; k-- > 0;) {
        kmm__array_t *a = kept[k];
        if (a->bytes != bytes || a->home != d)
            continue;
        memmove(kept + k, kept + k + 1, (--kept_count - k) * sizeof(kept[0]));
        kept_bytes -= bytes;
        a->id = rt->memory->next_array++;
        kmm__array_index(rt, a);
        return a;
    }
    return NULL;
}

/* Gives all other GPUs access to an array. Not locked. */
static int share(kmm__array_t *a)
{
    kmm_runtime_t *rt = a->runtime;
    kmm__device_t *d = a->home;
    const kmm__residence_t *r = &a->residence[d->index];
    int error = 0;
    for (uint32_t k = 0; k < rt->visible_count && !error; k++) {
        kmm__device_t *to = rt->device[k];
        if (to == d)
            continue;
        error = r->is_packed
                    ? kmm__pack_share(d, r->window, to)
                    : d->backend->frame_share(d->gpu, r->window, kmm__array_span(a), to->gpu);
    }
    return error ? driver_error(d, error) : 0;
}

int kmm__named_share(kmm_runtime_t *rt)
{
    int error = 0;
    kmm__named_trim(rt);
    pthread_mutex_lock(&rt->lock);
    for (uint32_t k = 0; k < rt->memory->array_count && !error; k++) {
        kmm__array_t *a = rt->memory->arrays[k]; /* nobody changes the arrays meanwhile */
        pthread_mutex_unlock(&rt->lock);
        error = a->home ? share(a) : 0;
        pthread_mutex_lock(&rt->lock);
    }
    pthread_mutex_unlock(&rt->lock);
    return error;
}

int kmm__named_new(kmm_runtime_t *rt, kmm__device_t *d, size_t bytes, bool is_shared, void **out)
{
    int error = 0;
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kept_take(rt, d, bytes);
    bool is_new = !a;
    if (!a)
        error = kmm__array_new_at_home(rt, bytes, d, place, &a);
    if (error == KMM_E_MEMORY && kept_count) {
        kept_drop_all();
        error = kmm__array_new_at_home(rt, bytes, d, place, &a);
    }
    pthread_mutex_unlock(&rt->lock);
    if (!error && is_new && is_shared && (error = share(a))) {
        pthread_mutex_lock(&rt->lock);
        kmm__array_unindex(a);
        destroy(a);
        pthread_mutex_unlock(&rt->lock);
    }
    if (!error)
        *out = a->base;
    return error;
}

bool kmm__named_free(kmm_runtime_t *rt, void *base)
{
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, base);
    bool is = a && a->home && a->base == base && kmm__array_unindex(a);
    if (is && a->bytes <= a->home->memory->limit / KEPT_PART) {
        while (kept_count == KEPT ||
               (kept_count && kept_bytes + a->bytes > a->home->memory->limit / KEPT_PART))
            kept_drop();
        kept[kept_count++] = a;
        kept_bytes += a->bytes;
    } else if (is) {
        destroy(a);
    }
    pthread_mutex_unlock(&rt->lock);
    return is;
}

void kmm__named_trim(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&rt->lock);
    kept_drop_all();
    pthread_mutex_unlock(&rt->lock);
}

int kmm__named_reserve(kmm__array_t *a)
{
    kmm__device_t *d = a->home;
    const uint64_t reserved = kmm__array_span(a) + d->info.granularity;
    kmm__addr_t window;
    pthread_mutex_unlock(&d->runtime->lock);
    int error = d->backend->window_reserve(d->gpu, reserved, &window);
    pthread_mutex_lock(&d->runtime->lock);
    if (error)
        return driver_error(d, error);
    a->base = (char *)(uintptr_t)window;
    a->reserved = reserved;
    d->runtime->memory->apart += kmm__named_is_small(d, a->bytes);
    return 0;
}

/* ---- Moving ---- */

/* False: the array was made when native standing was about to end, and has no memory yet. */
static bool is_at_name(const kmm__array_t *a)
{
    return a->home && a->residence[a->home->index].window;
}

/* Reserves a window for each array with frames of its own. Nothing has changed if that fails. */
static int windows_reserve(kmm_runtime_t *rt, kmm__addr_t *windows)
{
    for (uint32_t k = 0; k < rt->memory->array_count; k++) {
        const kmm__array_t *a = rt->memory->arrays[k];
        kmm__device_t *d = a->home;
        int error = is_at_name(a) && !a->residence[d->index].is_packed
                        ? d->backend->window_reserve(d->gpu, kmm__array_span(a), &windows[k])
                        : 0;
        if (!error)
            continue;
        driver_error(d, error);
        while (k-- > 0)
            if (windows[k])
                rt->memory->arrays[k]->home->backend->window_release(
                    rt->memory->arrays[k]->home->gpu, windows[k],
                    kmm__array_span(rt->memory->arrays[k]));
        return error;
    }
    return 0;
}

/* Moves the frames of an array from its name to a window. */
static int frames_move(kmm__array_t *a, kmm__addr_t window)
{
    kmm__device_t *d = a->home;
    kmm__residence_t *r = &a->residence[d->index];
    int error = 0;
    for (uint32_t k = 0; k < a->frame_count && !error; k++) {
        const uint64_t bytes = kmm__array_frame_size(a, k), at = k * a->frame_bytes;
        error = d->backend->frame_unmap(d->gpu, r->window + at, bytes);
        if (!error)
            error = d->backend->frame_map_without_access(d->gpu, window + at, r->frames[k].handle,
                                                         bytes);
    }
    if (!error)
        error = d->backend->frames_allow(d->gpu, window, kmm__array_span(a));
    r->window = window;
    return error;
}

/* Notes that an array's home holds all of it, and no other space any of it. */
static void holder_note(kmm__array_t *a)
{
    const kmm__holders_t home = {.valid = 1u << a->home->space};
    kmm__box_t all = kmm__layout_whole(&a->coherence.layout);
    a->summary.whole = home.valid;
    kmm__map_assign(a->coherence.map, &all, &home);
    kmm__object_home(&a->object, a->home->space);
}

/* Moves what is at names on one device. Returns 0 or the backend's error. */
static int device_move(kmm__device_t *d, const kmm__addr_t *windows)
{
    const struct kmm__memory *m = d->runtime->memory;
    int error = kmm__pack_move(d);
    for (uint32_t k = 0; k < m->array_count; k++) {
        kmm__array_t *a = m->arrays[k];
        if (a->home != d || !is_at_name(a))
            continue;
        kmm__residence_t *r = &a->residence[d->index];
        if (r->is_packed)
            r->window = kmm__pack_moved(d, r->window);
        else if (!error)
            error = frames_move(a, windows[k]);
        holder_note(a);
    }
    return error;
}

static void lose(kmm__device_t *d, int error)
{
    /* what is mapped is not known any more */
    kmm__error_note(d->runtime, error, "%s: its arrays could not be mapped anew: %s", d->info.name,
                    d->backend->error_text(d->backend));
    kmm__device_lose(d, error);
}

/* The lock is held throughout: until the end, nothing that another thread finds is right. */
int kmm__named_move(kmm_runtime_t *rt)
{
    kmm__addr_t *windows = kmm__alloc((rt->memory->array_count + 1) * sizeof(*windows));
    int error = windows_reserve(rt, windows);
    for (uint32_t k = 0; k < rt->visible_count && !error; k++) {
        kmm__device_t *d = rt->device[k];
        int moved = device_move(d, windows);
        if (moved)
            lose(d, moved);
    }
    free(windows);
    return error;
}

/* ---- Moving back ---- */

/* The frames of an array go to its name; the window that they leave is released. */
static int frames_return(kmm__array_t *a)
{
    kmm__device_t *d = a->home;
    kmm__residence_t *r = &a->residence[d->index];
    const kmm__addr_t window = r->window;
    int error = frames_move(a, (kmm__addr_t)(uintptr_t)a->base);
    for (uint32_t k = 0; k < a->frame_count; k++) {
        r->frames[k].shared = 0; /* access belongs to the mapping */
        r->frames[k].allowed = true;
    }
    d->backend->window_release(d->gpu, window, kmm__array_span(a));
    return error;
}

bool kmm__named_return(kmm__device_t *d)
{
    const struct kmm__memory *m = d->runtime->memory;
    int error = 0;
    for (uint32_t k = 0; k < m->array_count; k++) {
        kmm__array_t *a = m->arrays[k];
        if (a == m->globals)
            continue;
        kmm__residence_t *r = &a->residence[d->index];
        if (r->is_packed)
            r->window = kmm__pack_name(d, r->window);
        else if (!error)
            error = frames_return(a);
        kmm__coherence_summary_free(a);
        a->summary = (kmm__coherence_summary_t){0};
        holder_note(a);
    }
    error = error ? error : kmm__pack_return_home(d);
    if (error)
        lose(d, error);
    return !error;
}

void kmm__named_lock(void)
{
    pthread_mutex_lock(&allocating);
}

void kmm__named_unlock(void)
{
    pthread_mutex_unlock(&allocating);
}
