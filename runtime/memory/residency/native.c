/* SPDX-License-Identifier: Apache-2.0 */
/* Native standing: who is inside native calls, arrays that are mapped at their names, and the
 * takeover. */
#include "memory/residency/native.h"

#include <sched.h>
#include <stdio.h>
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
#include "memory/residency/scratch.h"
#include "task/state.h"

/* KEPT arrays that the program has freed stay mapped for the next ones of their sizes, as long as
 * they take at most 1/KEPT_PART of the device. */
enum { KEPT = 64, KEPT_PART = 64 };

typedef enum standing { UNDECIDED, NATIVE, DOOMED, MANAGED } standing_t;

static _Atomic standing_t standing;
static kmm_runtime_t *native_runtime; /* constant once the standing is decided */
static kmm_kind_t native_kind;
static _Atomic(const char *) bound; /* why the standing cannot end; NULL: it can */
static pthread_mutex_t deciding = PTHREAD_MUTEX_INITIALIZER; /* held while the standing changes */
/* held while memory of native arrays is allocated or freed; taken before the runtime's lock */
static pthread_mutex_t allocating = PTHREAD_MUTEX_INITIALIZER;
static kmm__array_t *kept[KEPT]; /* the latest last; guarded by `allocating` */
static uint32_t kept_count;
static uint64_t kept_bytes;

/* ---- Who is inside ---- */

/* A thread's mark. Marks are never freed, and are used again when their thread has ended. */
typedef struct mark {
    _Atomic uint32_t inside; /* number of native calls that the thread is inside of */
    atomic_bool taken;
    struct mark *next;
} mark_t;
static _Atomic(mark_t *) marks;
static _Thread_local mark_t *own;
static pthread_key_t
    ends; /* its value is the thread's mark, so that the end of the thread returns it */

static void mark_return(void *mark)
{
    atomic_store(&((mark_t *)mark)->taken, false);
}

static void ends_create(void)
{
    pthread_key_create(&ends, mark_return);
}

static mark_t *mark_take(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ends_create);
    mark_t *m = atomic_load(&marks);
    for (bool no = false; m && !atomic_compare_exchange_strong(&m->taken, &no, true); no = false)
        m = m->next;
    if (!m) {
        m = kmm__alloc(sizeof(*m));
        atomic_store(&m->taken, true);
        m->next = atomic_load(&marks);
        while (!atomic_compare_exchange_weak(&marks, &m->next, m)) {
        }
    }
    pthread_setspecific(ends, m);
    return m;
}

static void await_all_out(void)
{
    for (mark_t *m = atomic_load(&marks); m; m = m->next)
        while (atomic_load(&m->inside))
            sched_yield();
}

static bool is_native(kmm_kind_t kind)
{
    return atomic_load(&standing) == NATIVE && native_kind == kind;
}

bool kmm__native_is(kmm_kind_t kind)
{
    return is_native(kind);
}

bool kmm__native_is_undecided(void)
{
    return atomic_load_explicit(&standing, memory_order_acquire) == UNDECIDED;
}

/* The mark is written before the standing is read, and kmm__native_end writes the standing before
 * it reads the marks. So one of the two sees the other. */
bool kmm__native_enter(kmm_kind_t kind)
{
    standing_t s = atomic_load_explicit(&standing, memory_order_acquire);
    if (s == MANAGED || s == UNDECIDED || native_kind != kind)
        return false;
    if (!own)
        own = mark_take();
    if (s == NATIVE) {
        atomic_fetch_add(&own->inside, 1);
        if (atomic_load(&standing) == NATIVE)
            return true;
        kmm__native_leave();
    }
    kmm__native_end(native_runtime, "an array that does not fit");
    return false;
}

void kmm__native_leave(void)
{
    atomic_fetch_sub_explicit(&own->inside, 1, memory_order_release);
}

void kmm__native_bind(const char *what)
{
    atomic_store(&bound, what);
}

bool kmm__native_is_bound(void)
{
    return atomic_load(&bound) != NULL;
}

/* ---- Its begin ---- */

/* Returns the GPU of a runtime that can be native; NULL: it cannot. */
static kmm__device_t *only_gpu(const kmm_runtime_t *rt, kmm_kind_t kind)
{
    kmm__device_t *gpu = NULL;
    for (uint32_t k = 0; k < rt->visible_count; k++) {
        kmm__device_t *d = rt->device[k];
        if (gpu || d->backend->kind != kind || d->info.whole || d->space == KMM__HOST)
            return NULL;
        gpu = d;
    }
    return gpu;
}

/* HIP's runtime has not been seen to copy memory that is mapped so: it has to be asked for. */
static bool is_wanted(kmm_kind_t kind)
{
    const char *text = getenv("KMM_NATIVE");
    return text && *text ? strcmp(text, "0") != 0 : kind == KMM_KIND_CUDA;
}

void kmm__native_start(kmm_runtime_t *rt, kmm_kind_t kind)
{
    pthread_mutex_lock(&deciding);
    if (atomic_load(&standing) == UNDECIDED) {
        bool is_new = rt && rt->memory->array_count == 1 && rt->tasks->next_sequence == 0;
        kmm__device_t *d =
            is_new && is_wanted(kind) && !rt->checks_access ? only_gpu(rt, kind) : NULL;
        native_runtime = rt;
        native_kind = kind;
        if (d) {
            pthread_mutex_lock(&rt->lock);
            kmm__pack_unbind(d);
            pthread_mutex_unlock(&rt->lock);
        }
        atomic_store(&standing, d ? NATIVE : MANAGED);
    }
    pthread_mutex_unlock(&deciding);
}

/* ---- Arrays ---- */

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
    d->memory->used += bytes;
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

int kmm__native_array_new(kmm_runtime_t *rt, kmm__device_t *d, size_t bytes, void **out)
{
    int error = 0;
    pthread_mutex_lock(&allocating);
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kept_take(rt, d, bytes);
    if (!a)
        error = kmm__array_new_at_home(rt, bytes, d, place, &a);
    if (error == KMM_E_MEMORY && kept_count) {
        kept_drop_all();
        error = kmm__array_new_at_home(rt, bytes, d, place, &a);
    }
    if (!error)
        *out = a->base;
    pthread_mutex_unlock(&rt->lock);
    pthread_mutex_unlock(&allocating);
    return error;
}

bool kmm__native_array_free(kmm_runtime_t *rt, void *base)
{
    pthread_mutex_lock(&allocating);
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
    pthread_mutex_unlock(&allocating);
    return is;
}

void kmm__native_trim(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&allocating);
    pthread_mutex_lock(&rt->lock);
    kept_drop_all();
    pthread_mutex_unlock(&rt->lock);
    pthread_mutex_unlock(&allocating);
}

/* ---- Taking over ---- */

/* Reserves a window for each array with frames of its own. Nothing has changed if that fails. */
static int windows_reserve(kmm_runtime_t *rt, kmm__addr_t *windows)
{
    for (uint32_t k = 0; k < rt->memory->array_count; k++) {
        const kmm__array_t *a = rt->memory->arrays[k];
        kmm__device_t *d = a->home;
        int error = d && !a->residence[d->index].is_packed
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
}

/* The lock is held throughout: until the end, nothing that another thread finds is right. */
static int arrays_move(kmm_runtime_t *rt)
{
    kmm__device_t *d = rt->device[0];
    kmm__addr_t *windows = kmm__alloc((rt->memory->array_count + 1) * sizeof(*windows));
    int error = windows_reserve(rt, windows);
    if (error) {
        free(windows);
        return error;
    }
    int moved = kmm__pack_move(d);
    for (uint32_t k = 0; k < rt->memory->array_count; k++) {
        kmm__array_t *a = rt->memory->arrays[k];
        if (!a->home)
            continue;
        kmm__residence_t *r = &a->residence[d->index];
        if (r->is_packed)
            r->window = kmm__pack_moved(d, r->window);
        else if (!moved)
            moved = frames_move(a, windows[k]);
        holder_note(a);
    }
    free(windows);
    if (moved) { /* what is mapped is not known any more */
        kmm__error_note(rt, moved, "%s: its arrays could not be mapped anew: %s", d->info.name,
                        d->backend->error_text(d->backend));
        kmm__device_lose(d, moved);
    }
    return error;
}

/* Returns an error if the standing cannot end. */
static int check_bound(const char *what, int error)
{
    const char *why = atomic_load(&bound);
    return why ? kmm__error_set(error,
                                "%s: libkmm would have to move arrays, whose addresses %s has "
                                "recorded",
                                what, why)
               : 0;
}

static int take_over(kmm_runtime_t *rt, const char *what)
{
    int refused = check_bound(what, KMM_E_STATE);
    if (refused)
        return refused;
    atomic_store(&standing, DOOMED);
    await_all_out();
    for (uint32_t k = 0; k < rt->visible_count; k++) /* an error is told by the call that follows */
        rt->device[k]->backend->finish(rt->device[k]->gpu);
    kmm__scratch_drop(rt);
    kmm__native_trim(rt);
    pthread_mutex_lock(&rt->lock);
    int error = arrays_move(rt);
    pthread_mutex_unlock(&rt->lock);
    atomic_store(&standing, error ? NATIVE : MANAGED);
    return error;
}

int kmm__native_end(kmm_runtime_t *rt, const char *what)
{
    standing_t s = atomic_load(&standing);
    int error = 0;
    if (s == MANAGED || s == UNDECIDED || rt != native_runtime)
        return 0;
    pthread_mutex_lock(&deciding);
    if (atomic_load(&standing) != MANAGED)
        error = take_over(rt, what);
    pthread_mutex_unlock(&deciding);
    return error;
}

int kmm__native_doom(kmm_runtime_t *rt, const char *what)
{
    standing_t is = NATIVE;
    if (atomic_load(&standing) != NATIVE || rt != native_runtime)
        return 0;
    int error = check_bound(what, KMM_E_MEMORY);
    if (!error)
        atomic_compare_exchange_strong(&standing, &is, DOOMED);
    return error;
}

/* ---- Faults ---- */

enum { SITES = 4 };
static struct {
    const char *file, *kernel;
    int line;
} sites[SITES]; /* the latest launches with a pragma; guarded by sites_lock */
static uint64_t site_count;
static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag fault_told = ATOMIC_FLAG_INIT;

void kmm__native_note(const char *file, int line, const char *kernel)
{
    pthread_mutex_lock(&sites_lock);
    sites[site_count % SITES].file = file;
    sites[site_count % SITES].line = line;
    sites[site_count++ % SITES].kernel = kernel;
    pthread_mutex_unlock(&sites_lock);
}

bool kmm__native_is_plain(const kmm_runtime_t *rt)
{
    pthread_mutex_lock(&sites_lock);
    bool is = atomic_load(&standing) == NATIVE && rt == native_runtime && site_count == 0;
    pthread_mutex_unlock(&sites_lock);
    return is;
}

void kmm__native_fault(int error)
{
    if (atomic_flag_test_and_set(&fault_told))
        return;
    pthread_mutex_lock(&sites_lock);
    fprintf(stderr, "kmm: error: work on the GPU has failed (error %d)", error);
    for (uint64_t k = 0; k < SITES && k < site_count; k++) {
        uint64_t at = (site_count - 1 - k) % SITES;
        fprintf(stderr, "%s%s:%d: %s", k ? ", " : "; the latest launches with a pragma are ",
                sites[at].file ? sites[at].file : "?", sites[at].line,
                sites[at].kernel ? sites[at].kernel : "?");
    }
    fprintf(stderr, "\n");
    pthread_mutex_unlock(&sites_lock);
}

int kmm__native_finish(kmm_runtime_t *rt)
{
    int error = 0;
    if (atomic_load(&standing) != NATIVE || rt != native_runtime)
        return 0;
    for (uint32_t k = 0; k < rt->visible_count; k++) {
        kmm__device_t *d = rt->device[k];
        int finished = d->backend->finish(d->gpu);
        error = error ? error : finished ? driver_error(d, finished) : 0;
    }
    if (!error || atomic_flag_test_and_set(&fault_told))
        return 0;
    return error;
}
