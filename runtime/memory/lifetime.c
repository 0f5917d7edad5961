/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetime of arrays. An array ends in three steps: its last reference goes; each device's thread
 * releases its residence; the last of these frees the array. */
#include "memory/lifetime.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "memory/disk/page.h"
#include "memory/holders.h"
#include "memory/host/locked.h"
#include "memory/host/pagelock.h"
#include "memory/summary.h"
#include "task/users.h"

enum { FRAMES_OF_ARRAY = 64, FRAMES_OF_DEVICE = 32, FRAMES_OF_HOST = 8, HUGE_PAGE = 2 << 20 };
/* frames of more than MUCH bytes are at most 1/MANY_OF_DEVICE of a device */
enum { MANY_OF_DEVICE = 256, MUCH = 16 << 20 };

/* ---- Making one ---- */

static uint64_t power_of_two_at_least(uint64_t n)
{
    uint64_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

static bool is_too_much(const kmm__device_t *d, uint64_t frame)
{
    return frame > d->memory->most / FRAMES_OF_DEVICE ||
           (frame > MUCH && frame > d->memory->most / MANY_OF_DEVICE);
}

/* Returns the size of the array's frames: one size for all devices, so that frames can be
 * exchanged. If some device cannot map memory, that is the whole array. A frame must be small
 * enough that an array and a device have several, and more where a chunk has rows in many places:
 * each of its rows takes a frame. It must be large enough that mapping costs little: on H200s,
 * giving access to a frame takes 0.9 ms while copies run, whatever its size, and GPUs take turns at
 * it. *unit receives what the size of the last frame is a multiple of. */
static uint64_t choose_frame(const kmm_runtime_t *rt, size_t bytes, uint64_t *unit)
{
    uint64_t frame = power_of_two_at_least(bytes / FRAMES_OF_ARRAY + 1), least = 4096;
    if (frame < (8u << 20))
        frame = bytes < (8u << 20) ? power_of_two_at_least(bytes) : 8u << 20;
    if (frame > rt->memory->frame_bytes)
        frame = rt->memory->frame_bytes;
    while (kmm__spill_room(rt) && frame > kmm__spill_room(rt) / FRAMES_OF_HOST)
        frame /= 2; /* evicting the frame needs as much host memory */
    bool whole = false;
    for (uint32_t k = 0; k < rt->device_count; k++) {
        const kmm__device_t *d = rt->device[k];
        if (d->space == KMM__HOST)
            continue;
        whole |= d->info.whole;
        while (frame > 4096 && is_too_much(d, frame))
            frame /= 2;
        if (d->info.granularity > least)
            least = d->info.granularity;
    }
    *unit = least;
    if (whole)
        return bytes ? (bytes + least - 1) / least * least : least;
    return frame > least ? frame : least;
}

static void *host_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Maps memory of huge pages. They need fewer translations in kernels with scattered accesses, and
 * cost a small part of what as many small pages do when they come and go. */
static void *host_map_huge(size_t bytes)
{
    size_t size = kmm__whole_pages(bytes);
    char *p = host_map(size + HUGE_PAGE);
    if (!p)
        return NULL;
    char *begin = p + (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE,
         *end = p + size + HUGE_PAGE;
    if (begin > p)
        munmap(p, (size_t)(begin - p));
    if (end > begin + size)
        munmap(begin + size, (size_t)(end - begin) - size);
    madvise(begin, size, MADV_HUGEPAGE);
    return begin;
}

/* Reserves address space without memory for the array's name, and for addresses near it. */
static int reserve_name(kmm__array_t *a)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    a->reserved = (a->bytes / page + 1) * page + KMM__NAME_MARGIN;
    char *begin = mmap(NULL, KMM__NAME_MARGIN + a->reserved, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED)
        return kmm__error_set(KMM_E_MEMORY, "no address space for an array of %zu bytes", a->bytes);
    a->base = begin + KMM__NAME_MARGIN;
    return 0;
}

static void release_name(kmm__array_t *a)
{
    if (kmm__array_has_margin(a))
        munmap(a->base - KMM__NAME_MARGIN, KMM__NAME_MARGIN + a->reserved);
}

/* True if the array's address can be its memory: all arrays are in host memory, and that is not
 * limited. */
static bool can_use_host_addresses(const kmm_runtime_t *rt)
{
    return rt->memory->addresses_are_host && !rt->has_spaces && !kmm__spill_room(rt);
}

static int place(kmm__array_t *a)
{
    a->reserved = kmm__whole_pages(a->bytes + 1);
    a->base = a->host =
        a->reserved >= HUGE_PAGE ? host_map_huge(a->reserved) : host_map(a->reserved);
    if (a->base)
        return 0;
    a->reserved = 0;
    return kmm__error_set(KMM_E_MEMORY, "no address space for an array of %zu bytes", a->bytes);
}

static void maps_create(kmm_runtime_t *rt, kmm__array_t *a)
{
    bool promised = a->is_mapped && (a->map == KMM_MAP_FROM || a->map == KMM_MAP_ALLOC);
    a->is_tracked = rt->has_spaces || promised;
    kmm__holders_t holders = {
        .valid = !a->is_tracked || (a->is_mapped && !promised) ? 1u << KMM__HOST : 0};
    a->flat = kmm__layout_flat((int64_t)a->bytes);
    kmm__box_t whole = kmm__layout_whole(&a->flat);
    kmm__object_init(&a->object, &a->flat);
    a->coherence =
        (kmm__shape_map_t){a->flat, kmm__map_create(kmm__holders_ops(rt), rt, &whole, &holders)};
}

static void array_free(kmm__array_t *a)
{
    kmm_runtime_t *rt = a->runtime;
    kmm__spill_forget(a);
    /* nothing refers to the array any more, and the driver is slow */
    pthread_mutex_unlock(&rt->lock);
    kmm__pagelock_await(a);
    bool kept = kmm__buffers_keep(a, kmm__pagelock_locked_bytes(a));
    kmm__pageunlock_all(a);
    if (!kept && a->host && !a->is_mapped)
        munmap(a->host, a->host == a->base ? a->reserved : kmm__whole_pages(a->bytes));
    if (a->home && a->reserved)
        a->home->backend->window_release(a->home->gpu, (kmm__addr_t)(uintptr_t)a->base,
                                         a->reserved);
    pthread_mutex_lock(&rt->lock);
    kmm__coherence_summary_free(a);
    kmm__object_deinit(&a->object);
    if (a->coherence.map)
        kmm__map_destroy(a->coherence.map);
    if (a->freed_flag)
        *a->freed_flag = true;
    rt->memory->forgotten -= a->is_freed;
    pthread_mutex_destroy(&a->block_lock);
    pthread_cond_destroy(&a->block_ready);
    rt->memory->array_bytes -= a->bytes;
    rt->memory->framed_bytes -= kmm__array_span(a);
    KMM__TRACE(.kind = KMM__EVENT_ARRAY_END, .a = kmm__array_number(a), .c = (uintptr_t)a);
    free(a->label);
    free(a);
    rt->memory->live_arrays--;
    pthread_cond_broadcast(&rt->progress);
}

/* Makes an array that has no address yet, nor maps. */
static kmm__array_t *array_make(kmm_runtime_t *rt, size_t bytes, const char *label)
{
    kmm__array_t *a = kmm__alloc(sizeof(*a));
    uint64_t unit;
    rt->memory->live_arrays++;
    pthread_mutex_init(&a->block_lock, NULL);
    pthread_cond_init(&a->block_ready, NULL);
    a->runtime = rt;
    a->id = rt->memory->next_array++;
    a->refs = 1;
    a->bytes = bytes;
    rt->memory->array_bytes += bytes;
    if (rt->memory->array_bytes > rt->memory->array_most)
        rt->memory->array_most = rt->memory->array_bytes;
    a->label = kmm__copy_text(label);
    a->map = KMM_MAP_TOFROM;
    a->map_end = UINT64_MAX;
    a->map_depth = 1;
    a->frame_bytes = choose_frame(rt, bytes, &unit);
    a->frame_count = (uint32_t)((bytes + a->frame_bytes - 1) / a->frame_bytes);
    if (bytes)
        a->last_bytes = ((bytes - 1) % a->frame_bytes + unit) / unit * unit;
    rt->memory->framed_bytes += kmm__array_span(a);
    KMM__TRACE(.kind = KMM__EVENT_ARRAY, .text = kmm__trace_text(label), .a = kmm__array_number(a),
               .b = bytes, .c = (uintptr_t)a);
    return a;
}

int kmm__array_new(kmm_runtime_t *rt, size_t bytes, void *mapped, kmm_map_t map, const char *label,
                   kmm__array_t **out)
{
    kmm__array_t *a = array_make(rt, bytes, label);
    a->is_mapped = mapped != NULL;
    a->map = map;
    a->base = a->host = mapped;
    int error = mapped ? 0 : can_use_host_addresses(rt) ? place(a) : reserve_name(a);
    if (error) {
        array_free(a);
        return error;
    }
    maps_create(rt, a);
    kmm__array_index(rt, a);
    *out = a;
    return 0;
}

int kmm__array_new_at_home(kmm_runtime_t *rt, size_t bytes, kmm__device_t *home,
                           int (*place)(kmm__array_t *a), kmm__array_t **out)
{
    kmm__array_t *a = array_make(rt, bytes, NULL);
    a->home = home;
    maps_create(rt, a);
    int error = place(a);
    if (error) {
        array_free(a);
        return error;
    }
    kmm__array_index(rt, a);
    *out = a;
    return 0;
}

void kmm__arrays_use_host_addresses(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&rt->lock);
    rt->memory->addresses_are_host = true;
    pthread_mutex_unlock(&rt->lock);
}

char *kmm__array_host(kmm__array_t *a)
{
    if (a->host)
        return a->host;
    uint64_t page = kmm__spill_page_bytes(a->runtime); /* 0: host memory is not limited */
    if (page == 0 && kmm__buffers_reuse(a))
        return a->host;
    bool huge = a->bytes >= HUGE_PAGE && (page == 0 || page >= HUGE_PAGE);
    a->host = huge ? host_map_huge(a->bytes) : host_map(kmm__whole_pages(a->bytes));
    if (a->host)
        kmm__spill_array(a);
    return a->host;
}

/* ---- Its end ---- */

void kmm__array_forget(kmm__array_t *a)
{
    kmm_runtime_t *rt = a->runtime;
    if (!kmm__array_unindex(a))
        return;
    rt->tasks->hooks->settle(rt);
    a->is_freed = true;
    rt->memory->forgotten++;
    release_name(a);
}

void kmm__array_unref(kmm__array_t *a)
{
    kmm_runtime_t *rt = a->runtime;
    if (--a->refs)
        return;
    kmm__spill_array_dead(a);
    a->residence_left = rt->device_count;
    for (uint32_t k = 0; k < rt->device_count; k++) {
        kmm__device_t *d = rt->device[k];
        a->next_dead[k] = d->memory->dead;
        d->memory->dead = a;
        kmm__device_wake(d);
    }
}

void kmm__array_end(kmm__array_t *a)
{
    array_free(a);
}

void kmm__array_left(kmm__array_t *a)
{
    if (--a->residence_left == 0)
        array_free(a);
}
