/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acquisition: maps and pins the frames that a task needs.
 *
 * Only a device's own thread acquires its frames, for one task at a time. Pins last until the task
 * is done. So at most one task with pins on a device waits for memory there. All other pins are of
 * tasks that wait for no memory. These tasks end, and their memory becomes free. Premapped frames
 * (premap.c) are not pinned, so they may be evicted.
 */
#include "memory/residency/acquire.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/spin.h"
#include "base/thread.h"
#include "memory/residency/evict.h"
#include "memory/residency/exceed.h"
#include "memory/residency/foresight.h"
#include "memory/residency/pack.h"
#include "memory/residency/physical.h"
#include "memory/residency/premap.h"
#include "memory/residency/reuse.h"

/* PRESSURE_LASTS: memory stops counting as short after that many acquisitions that had nothing to
 * map. COMING_TASKS: see await_turn. */
enum { PRESSURE_LASTS = 32, COMING_TASKS = 3 };

/* The frames of one acquisition. */
typedef struct wanted {
    kmm__task_t *task;
    kmm__frame_t **frames; /* frames that are not mapped */
    uint32_t count, capacity;
    kmm__frame_t **closed; /* frames that are mapped and to which the device has no access yet */
    uint32_t closed_count, closed_capacity;
    uint64_t bytes;     /* bytes of all frames, without host-backed ones */
    uint64_t missing;   /* bytes that are not mapped yet */
    uint64_t premapped; /* bytes of frames that were premapped */
    uint64_t pinned;    /* bytes of device memory that the task has pinned */
    bool exceeds;       /* frames that find no room become host-backed */
} wanted_t;

static void note_closed(wanted_t *w, kmm__frame_t *f)
{
    if (f->allowed)
        return;
    w->closed = kmm__grow(w->closed, w->closed_count, &w->closed_capacity, sizeof(*w->closed));
    w->closed[w->closed_count++] = f;
}

static void want(void *ctx, kmm__frame_t *f)
{
    wanted_t *w = ctx;
    if (f->stamp == f->device->memory->stamp)
        return;
    f->stamp = f->device->memory->stamp;
    kmm__uses_meet(f, w->task);
    w->bytes += kmm__frame_bytes(f);
    if (f->state == KMM__FRAME_MAPPED) {
        w->pinned += kmm__frame_bytes(f);
        w->premapped += f->premapped ? kmm__frame_size(f) : 0;
        kmm__frame_pin(w->task, f);
        note_closed(w, f); /* an earlier attempt to give access may have failed */
        return;
    }
    w->frames = kmm__grow(w->frames, w->count, &w->capacity, sizeof(*w->frames));
    w->frames[w->count++] = f;
    w->missing += kmm__frame_size(f);
}

/* Calls `want` for all frames of an access. Flat layouts are handled inline, because kmm__frames_of
 * would dominate the cost of a small task. */
static void want_box(wanted_t *w, const kmm__access_t *a)
{
    kmm__residence_t *r = &a->array->residence[w->task->device->index];
    int64_t size = (int64_t)a->array->frame_bytes;
    if (r->is_packed)
        return;
    if (a->layout->dims > 1) {
        kmm__frames_of(a->array, w->task->device, a->layout, &a->box, want, w);
        return;
    }
    for (int64_t k = a->box.lo[0] / size; k * size < a->box.hi[0]; k++)
        want(w, &r->frames[k]);
}

/* ---- Windows ---- */

static int driver_error(const kmm__device_t *d, int error)
{
    return kmm__error_set(error, "%s: %s", d->info.name, d->backend->error_text(d->backend));
}

static int window_ensure(kmm__device_t *d, kmm__array_t *a)
{
    kmm_runtime_t *rt = d->runtime;
    kmm__residence_t *r = &a->residence[d->index];
    kmm__addr_t window = 0;
    if (r->window || a->object.is_abstract)
        return 0;
    if (d->info.whole) {
        kmm__frames_table(a, d);
        return 0;
    }
    /* the name of an array with a home is no place in a slab, but it can have frames */
    if (a->home != d && kmm__pack_take(d, a->bytes, &r->window)) {
        r->is_packed = true;
        return 0;
    }
    pthread_mutex_unlock(&rt->lock);
    int error = d->backend->window_reserve(d->gpu, kmm__array_span(a), &window);
    pthread_mutex_lock(&rt->lock);
    if (error)
        return kmm__error_set(error, "%s: %s", d->info.name, d->backend->error_text(d->backend));
    kmm__frames_table(a, d);
    r->window = window;
    return 0;
}

static int windows_ensure(kmm__task_t *t)
{
    int error = 0;
    for (uint32_t k = 0; k < t->access_count && !error; k++)
        error = window_ensure(t->device, t->accesses[k].array);
    for (uint32_t k = 0; k < t->work->pointer_count && !error; k++)
        error = window_ensure(t->device, t->work->pointers[k].array);
    return error;
}

/* ---- Mapping ---- */

/* Waits until memory of the device changes. KMM_E_MEMORY: nothing can change it. */
static int wait_for_memory(const wanted_t *w)
{
    kmm__device_t *d = w->task->device;
    if (!d->memory->evicting && d->memory->pinned_bytes <= w->pinned && !d->memory->is_premapping)
        return KMM_E_MEMORY;
    uint64_t begin = kmm__now();
    kmm__cond_wait(&d->wake, &d->runtime->lock);
    kmm__count_locked(&d->counters.waiting_ns, kmm__now() - begin);
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .task = kmm__task_number(w->task), .text = "wait for room",
               .a = begin, .b = w->bytes);
    return 0;
}

/* Makes f host-backed, since the device has no room for it. Unlocks meanwhile. */
static int frame_make_host_backed(wanted_t *w, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    uint64_t bytes = kmm__frame_size(f);
    pthread_mutex_unlock(&d->runtime->lock);
    int error = d->backend->frame_create_host_backed(d->gpu, bytes, &f->handle);
    pthread_mutex_lock(&d->runtime->lock);
    if (error)
        return error == KMM_E_MEMORY ? kmm__task_too_large(w->task, w->bytes)
                                     : driver_error(d, error);
    f->host_backed = true;
    d->memory->host_backed_bytes += bytes;
    kmm__count_most(&d->counters.host_backed_most, d->memory->host_backed_bytes);
    return 0;
}

/* True if frames that find no room become host-backed. Decided anew, because the driver may have
 * less memory now than when the acquisition began. */
static bool exceeds_now(wanted_t *w)
{
    if (!w->exceeds && kmm__task_may_exceed(w->task)) {
        w->exceeds = true;
        kmm__warn_exceeding(w->task, w->bytes);
    }
    return w->exceeds;
}

/* Allocates device memory for f. The memory is counted before it exists, so that no other thread
 * takes the room. Unlocks meanwhile. */
static int frame_create(kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    uint64_t bytes = kmm__frame_size(f);
    kmm__memory_take(d, bytes);
    pthread_mutex_unlock(&d->runtime->lock);
    int error = d->backend->frame_create(d->gpu, bytes, &f->handle);
    pthread_mutex_lock(&d->runtime->lock);
    d->memory->used -= error ? bytes : 0;
    return error;
}

/* Chooses a frame to evict for what is still missing. NULL: it is better to wait. */
static kmm__frame_t *choose_victim(const wanted_t *w)
{
    const kmm__device_t *d = w->task->device;
    uint64_t needed = w->missing + kmm__frames_reserve(d), evicting = d->memory->evicting_bytes;
    return evicting < needed ? kmm__frames_victim(d, evicting, needed) : NULL;
}

/* Takes one step towards room for a frame: the cheapest that can be taken. *is_stuck: none can be
 * taken. */
static int room_make(const wanted_t *w, bool *is_stuck)
{
    kmm__device_t *d = w->task->device;
    kmm_runtime_t *rt = d->runtime;
    kmm__frame_t *victim;
    if (d->memory->spare_count) {
        kmm__spare_destroy(rt, d);
    } else if (kmm__pack_trim(d)) {
        return 0;
    } else if (d->memory->evicted) {
        return kmm__frame_unmap(rt, d->memory->evicted);
    } else if ((victim = choose_victim(w))) {
        d->memory->pressure = PRESSURE_LASTS;
        return kmm__frame_evict(rt, victim);
    } else {
        *is_stuck = wait_for_memory(w) != 0;
    }
    return 0;
}

/* Gets memory for f: spare, new, or of a frame that is evicted. If there is none, f is made
 * host-backed, or the task is too large. */
static int frame_obtain(wanted_t *w, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    uint64_t bytes = kmm__frame_size(f);
    for (bool is_stuck = false;;) {
        int error = 0;
        if (kmm__spare_take(d, bytes, &f->handle))
            return 0;
        if (d->memory->used + bytes <= d->memory->limit) {
            error = frame_create(f);
            if (error != KMM_E_MEMORY)
                return error ? driver_error(d, error) : 0;
            d->memory->limit = d->memory->used; /* other programs use the device too */
            d->memory->proved = d->memory->used;
            continue;
        }
        error = room_make(w, &is_stuck);
        if (error)
            return error;
        if (is_stuck)
            return exceeds_now(w) ? frame_make_host_backed(w, f)
                                  : kmm__task_too_large(w->task, w->bytes);
    }
}

/* Waits until f, which is being premapped, is mapped. That takes some hundred microseconds for a
 * run of frames, little longer than to wake a thread, so this spins first. */
static void await_moving(const kmm__frame_t *f)
{
    enum { SPINS = 16 };
    kmm__device_t *d = f->device;
    uint64_t seen = d->wakes;
    pthread_mutex_unlock(&d->runtime->lock);
    for (int k = kmm__has_cpus_to_spare() ? SPINS : 1; k > 0 && d->wakes == seen; k--)
        kmm__spin_while(&d->wakes, seen);
    pthread_mutex_lock(&d->runtime->lock);
    while (f->state == KMM__FRAME_MOVING)
        kmm__cond_wait(&d->wake, &d->runtime->lock);
}

/* Maps f's memory in its window. Unlocks meanwhile. */
static int frame_map_memory(kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    pthread_mutex_unlock(&d->runtime->lock);
    uint64_t begin = kmm__now();
    int error = d->info.whole ? 0
                              : d->backend->frame_map_without_access(d->gpu, kmm__frame_address(f),
                                                                     f->handle, kmm__frame_size(f));
    kmm__count_since(begin, &d->counters.mappings, &d->counters.mapping_ns);
    KMM__TRACE(.kind = KMM__EVENT_SPAN, .mode = 1, .device = d->number, .text = "map", .a = begin,
               .b = kmm__frame_size(f));
    pthread_mutex_lock(&d->runtime->lock);
    if (d->info.whole)
        f->array->residence[d->index].window = f->handle;
    return error;
}

/* ABSENT -> MAPPED. f is MOVING meanwhile, so that the premapper leaves it alone. */
static int frame_map_absent(wanted_t *w, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    kmm__frame_begin_mapping(f);
    kmm__premap_wake(d);
    int error = frame_obtain(w, f);
    if (error) {
        kmm__frame_mapping_failed(f);
        return error;
    }
    error = frame_map_memory(f);
    if (error) {
        kmm__frame_mapping_failed(f);
        driver_error(d, error);
        if (f->host_backed)
            kmm__host_backed_destroy(f);
        else
            kmm__spare_push(d, f->handle, kmm__frame_size(f));
        return error;
    }
    kmm__frame_mapped(f, d->info.whole);
    d->memory->premap_failed = false;
    return 0;
}

/* Maps f, in whatever state it is, and pins it. An EVICTED frame is still mapped, and becomes
 * MAPPED again. Its contents are not used, because its device is no longer a holder of them. */
static int frame_map(wanted_t *w, kmm__frame_t *f)
{
    int error = 0;
    if (f->state == KMM__FRAME_MOVING)
        await_moving(f);
    while (f->state == KMM__FRAME_EVICTING)
        kmm__cond_wait(&f->device->wake, &f->device->runtime->lock);
    if (f->state == KMM__FRAME_EVICTED)
        kmm__frame_reclaim(f);
    else if (f->state == KMM__FRAME_ABSENT)
        error = frame_map_absent(w, f);
    if (error)
        return error;
    kmm__frame_pin(w->task, f);
    note_closed(w, f);
    w->missing -= kmm__frame_size(f);
    w->pinned += kmm__frame_bytes(f);
    return 0;
}

/* Maps and pins all frames that are not mapped. Frames that are being premapped come last. */
static int frames_map(wanted_t *w)
{
    int error = 0;
    for (uint32_t k = 0; k < w->count && !error; k++) {
        if (w->frames[k]->state == KMM__FRAME_MOVING)
            continue;
        error = frame_map(w, w->frames[k]);
        w->frames[k] = NULL;
    }
    for (uint32_t k = 0; k < w->count && !error; k++)
        if (w->frames[k])
            error = frame_map(w, w->frames[k]);
    return error;
}

/* Gives the device access to all frames that the acquisition has mapped, one call for each run of
 * neighbours. */
static int frames_allow(const wanted_t *w, kmm__device_t *d)
{
    int error = 0;
    for (uint32_t k = 0, n; k < w->closed_count && !error; k += n) {
        kmm__frame_t *first = w->closed[k];
        uint64_t bytes = kmm__frame_size(first);
        for (n = 1; k + n < w->closed_count && w->closed[k + n] == first + n &&
                    w->closed[k + n]->array == first->array;
             n++)
            bytes += kmm__frame_size(first + n);
        pthread_mutex_unlock(&d->runtime->lock);
        uint64_t begin = kmm__now();
        error = d->backend->frames_allow(d->gpu, kmm__frame_address(first), bytes);
        kmm__count_since(begin, &d->counters.allowings, &d->counters.mapping_ns);
        KMM__TRACE(.kind = KMM__EVENT_SPAN, .mode = 1, .device = d->number, .text = "give access",
                   .a = begin, .b = bytes);
        pthread_mutex_lock(&d->runtime->lock);
        for (uint32_t j = 0; j < n; j++)
            first[j].allowed = !error;
    }
    return error ? driver_error(d, error) : 0;
}

/* Waits, while memory is short and all idle frames are needed again, until unfinished tasks hold at
 * most COMING_TASKS times what a task usually has to map. Without this wait, frames would be
 * evicted for a task whose kernel then waits behind others. In an order by reuse this also holds
 * while the device fills: a later step that is being submitted may use what has just come. Tasks
 * with pins wait for no memory, so they end. */
static void await_turn(const wanted_t *w)
{
    kmm__device_t *d = w->task->device;
    uint64_t usual = d->memory->missing > w->missing ? d->memory->missing : w->missing;
    bool fills = d->runtime->memory->by_reuse && !d->memory->pressure && !kmm__frames_fit(d);
    if ((!d->memory->pressure && !fills) || !w->missing)
        return;
    kmm__frames_note_needed(d);
    while ((d->memory->all_needed || fills) && d->memory->coming > COMING_TASKS * usual)
        if (wait_for_memory(w))
            return;
}

static void want_all(wanted_t *w)
{
    kmm__task_t *t = w->task;
    for (uint32_t k = 0; k < t->access_count; k++)
        if (!t->accesses[k].array->object.is_abstract)
            want_box(w, &t->accesses[k]);
    kmm__uses_met(t);
}

/* Updates the average of the bytes that a task has to map. An average is kept because tasks begin
 * and end inside frames, so one task maps more than the next. Also counts down the acquisitions
 * after which memory stops counting as short. */
static void note_missing(kmm__device_t *d, const wanted_t *w, uint64_t coming)
{
    uint64_t *average = &d->memory->missing;
    if (coming)
        *average = *average ? (3 * *average + coming) / 4 : coming;
    if (d->memory->pressure && w->missing == 0)
        d->memory->pressure--;
}

/* Returns an error if the device can never have as much memory as the task needs. Warns of tasks
 * that will be slow. */
static int check_limit(wanted_t *w)
{
    const kmm__task_t *t = w->task;
    struct kmm__device_memory *m = t->device->memory;
    if (w->bytes > m->limit)
        m->limit = m->most; /* the driver may have more by now */
    w->exceeds = w->bytes > m->limit && kmm__task_may_exceed(t);
    if (w->bytes > m->limit && !w->exceeds)
        return kmm__task_too_large(t, w->bytes);
    if (w->exceeds) {
        kmm__warn_exceeding(t, w->bytes);
        kmm__exceeding_sort(t, w->frames, w->count);
    }
    kmm__warn_amplified(t, w->bytes);
    return 0;
}

static int map_missing(wanted_t *w)
{
    kmm__device_t *d = w->task->device;
    d->memory->acquires = true;
    await_turn(w);
    int error = frames_map(w);
    if (!error)
        error = frames_allow(w, d);
    d->memory->acquires = false;
    return error;
}

int kmm__frames_acquire(kmm__task_t *t, bool resident)
{
    kmm__device_t *d = t->device;
    wanted_t w = {.task = t};
    int error = resident ? 0 : windows_ensure(t);
    d->memory->stamp++;
    d->memory->now = t->rank;
    kmm__reuse_advance(t);
    if (!error)
        want_all(&w);
    uint64_t coming = w.missing + w.premapped;
    note_missing(d, &w, coming);
    if (!error)
        error = check_limit(&w);
    if (w.premapped)
        kmm__premap_wake(d);
    if (!error && (w.count || w.closed_count))
        error = map_missing(&w);
    t->residency.coming = error ? 0 : coming;
    d->memory->coming += t->residency.coming;
    free(w.frames);
    free(w.closed);
    return error;
}

/* ---- Residency of a task ---- */

static void check_resident(void *ctx, kmm__frame_t *f)
{
    bool *all = ctx;
    *all &= f->state == KMM__FRAME_MAPPED;
}

/* True if the array has addresses on the device, or gets them when its one frame is mapped. */
static bool is_reached(const kmm__device_t *d, const kmm__array_t *a)
{
    const kmm__residence_t *r = &a->residence[d->index];
    return d->info.whole ? r->frames != NULL : r->window != 0;
}

/* True if all arrays that w points to have addresses on the device. They keep these as long as w
 * exists. */
static bool pointers_reached(kmm__work_t *w, const kmm__device_t *d)
{
    if (w->reached >> d->index & 1)
        return true;
    for (uint32_t k = 0; k < w->pointer_count; k++)
        if (!is_reached(d, w->pointers[k].array))
            return false;
    w->reached |= 1u << d->index;
    return true;
}

bool kmm__frames_resident(kmm__task_t *t, uint64_t *bytes)
{
    kmm__device_t *d = t->device;
    bool all = pointers_reached(t->work, d);
    *bytes = t->bytes;
    for (uint32_t k = 0; k < t->access_count && all; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (a->array->object.is_abstract)
            continue;
        all = is_reached(d, a->array);
        if (all && a->array->residence[d->index].mapped < a->array->frame_count)
            kmm__frames_of(a->array, d, a->layout, &a->box, check_resident, &all);
    }
    return all;
}
