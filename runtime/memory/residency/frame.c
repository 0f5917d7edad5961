/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frames are mapped where. Only a device's own thread acquires its frames, one task at
 * a time, and tasks hold what they have acquired until they are done; so of the tasks that wait for
 * memory of a device none holds any, those that hold memory wait for none, and all of it comes
 * back. What is mapped ahead (ahead.c) is held by nobody: it waits for nothing, and may be evicted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/spin.h"
#include "memory/coherence.h"
#include "memory/disk/spill.h"
#include "memory/host/stage.h"
#include "memory/residency/ahead.h"
#include "memory/residency/foresight.h"
#include "memory/residency/pack.h"

enum {
    PRESSURE_LASTS = 32,
    AHEAD_TASKS = 4,
    AHEAD_NEEDED = 2,
    AHEAD_PART = 4,
    COMING_TASKS = 3
}; /* evicting ahead keeps limit / AHEAD_PART free at most */

/* ---- Lists ---- */

static void list_push(kmm__frame_t **list, kmm__frame_t *f)
{
    f->previous = NULL;
    f->next = *list;
    if (f->next)
        f->next->previous = f;
    *list = f;
}

static void list_remove(kmm__frame_t **list, kmm__frame_t *f)
{
    *(f->previous ? &f->previous->next : list) = f->next;
    if (f->next)
        f->next->previous = f->previous;
    f->previous = f->next = NULL;
}

/* Somebody uses what was mapped ahead, or it goes. */
static void ahead_end(kmm__frame_t *f)
{
    if (f->ahead)
        f->device->memory->ahead_bytes -= f->array->frame_bytes;
    f->ahead = false;
}

/* How many are mapped is counted, since mostly all are. */
static void frame_set(kmm__frame_t *f, kmm__frame_state_t state)
{
    kmm__residence_t *r = &f->array->residence[f->device->index];
    r->mapped += (state == KMM__FRAME_MAPPED) - (f->state == KMM__FRAME_MAPPED);
    f->state = state;
}

/* What it takes of the device's memory. */
static uint64_t bytes_here(const kmm__frame_t *f)
{
    return f->away ? 0 : f->array->frame_bytes;
}

/* ---- Pins ---- */

bool kmm__frames_fit(const kmm__device_t *d)
{
    enum { SLABS = 16 }; /* what small arrays take beside frames (pack.c) */
    return d->runtime->memory->framed_bytes <= d->memory->limit - d->memory->limit / SLABS &&
           !d->memory->pressure;
}

void kmm__frame_pin(kmm__task_t *t, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    if (f->pins++ == 0) {
        list_remove(&d->memory->idle, f);
        list_push(&d->memory->busy, f);
        d->memory->pinned_bytes += bytes_here(f);
        ahead_end(f);
    }
    t->residency.pinned = kmm__grow(t->residency.pinned, t->residency.pinned_count,
                                    &t->residency.pinned_capacity, sizeof(*t->residency.pinned));
    t->residency.pinned[t->residency.pinned_count++] = f;
}

void kmm__frames_release(kmm__task_t *t)
{
    if (t->residency.coming) {
        t->device->memory->coming -= t->residency.coming;
        t->residency.coming = 0;
        kmm__device_wake(t->device);
    }
    for (uint32_t k = 0; k < t->residency.pinned_count; k++) {
        kmm__frame_t *f = t->residency.pinned[k];
        kmm__device_t *d = f->device;
        if (--f->pins)
            continue;
        d->memory->pinned_bytes -= bytes_here(f);
        list_remove(&d->memory->busy, f);
        list_push(&d->memory->idle, f);
        kmm__device_wake(d);
    }
    t->residency.pinned_count = 0;
}

/* ---- Which frames a box touches ---- */

typedef struct touch {
    kmm__array_t *array;
    kmm__residence_t *residence;
    void (*fn)(void *ctx, kmm__frame_t *f);
    void *ctx;
} touch_t;

static inline void touch_bytes(touch_t *t, int64_t begin, int64_t end)
{
    int64_t size = (int64_t)t->array->frame_bytes;
    for (int64_t k = begin / size; k * size < end; k++)
        t->fn(t->ctx, &t->residence->frames[k]);
}

static int touch_rows(void *arg, const kmm__rows_t *rows)
{
    touch_t *t = arg;
    if (rows->count == 1 || rows->pitch <= (int64_t)t->array->frame_bytes) {
        touch_bytes(t, rows->offset, rows->offset + (rows->count - 1) * rows->pitch + rows->width);
        return 0;
    }
    for (int64_t k = 0; k < rows->count; k++)
        touch_bytes(t, rows->offset + k * rows->pitch,
                    rows->offset + k * rows->pitch + rows->width);
    return 0;
}

kmm__frame_t *kmm__frames_table(kmm__array_t *a, kmm__device_t *d)
{
    kmm__residence_t *r = &a->residence[d->index];
    if (r->frames)
        return r->frames;
    r->frames = kmm__alloc(a->frame_count * sizeof(*r->frames));
    for (uint32_t k = 0; k < a->frame_count; k++)
        r->frames[k] = (kmm__frame_t){.array = a, .device = d, .index = k};
    return r->frames;
}

/* The frames of a box in one dimension, as most are. */
static inline void touch_flat(touch_t *t, const kmm__box_t *b)
{
    if (b->lo[0] < b->hi[0])
        touch_bytes(t, b->lo[0], b->hi[0]);
}

void kmm__frames_of(kmm__array_t *a, kmm__device_t *d, const kmm__layout_t *l, const kmm__box_t *b,
                    void (*fn)(void *ctx, kmm__frame_t *f), void *ctx)
{
    touch_t t = {a, &a->residence[d->index], fn, ctx};
    if (t.residence->is_packed)
        return;
    if (l->dims == 1)
        touch_flat(&t, b);
    else
        kmm__layout_rows(l, b, touch_rows, &t);
}

/* ---- Physical memory ---- */

static void spare_push(kmm__device_t *d, kmm__frame_handle_t handle, uint64_t bytes)
{
    d->memory->spare = kmm__grow(d->memory->spare, d->memory->spare_count,
                                 &d->memory->spare_capacity, sizeof(*d->memory->spare));
    d->memory->spare[d->memory->spare_count++] = (kmm__spare_t){handle, bytes};
}

static bool spare_take(kmm__device_t *d, uint64_t bytes, kmm__frame_handle_t *out)
{
    for (uint32_t k = d->memory->spare_count; k-- > 0;) {
        if (d->memory->spare[k].bytes != bytes)
            continue;
        *out = d->memory->spare[k].handle;
        d->memory->spare[k] = d->memory->spare[--d->memory->spare_count];
        return true;
    }
    return false;
}

/* Gives a spare frame, of whatever size, back to the driver. */
static void spare_destroy(kmm_runtime_t *rt, kmm__device_t *d)
{
    kmm__spare_t s = d->memory->spare[--d->memory->spare_count];
    pthread_mutex_unlock(&rt->lock);
    d->backend->frame_destroy(d->gpu, s.handle, s.bytes);
    pthread_mutex_lock(&rt->lock);
    d->memory->used -= s.bytes; /* not before: another thread may be about to create one */
}

/* Gives the host's memory back. Unlocks meanwhile. */
static void away_destroy(kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    pthread_mutex_unlock(&d->runtime->lock);
    d->backend->frame_destroy(d->gpu, f->handle, f->array->frame_bytes);
    pthread_mutex_lock(&d->runtime->lock);
    d->memory->away -= f->array->frame_bytes;
    f->away = false;
}

static kmm__addr_t frame_address(const kmm__frame_t *f)
{
    return f->array->residence[f->device->index].window + f->index * f->array->frame_bytes;
}

/* Not locked. Several threads give access to frames of one device. */
static void count_since(uint64_t begin, uint64_t *count, uint64_t *ns)
{
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(ns, kmm__now() - begin, __ATOMIC_RELAXED);
}

/* f is on no list, and nothing uses it. */
static void frame_unmap(kmm_runtime_t *rt, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    ahead_end(f);
    frame_set(f, KMM__FRAME_MOVING);
    pthread_mutex_unlock(&rt->lock);
    uint64_t begin = kmm__now();
    int error = d->info.whole
                    ? 0
                    : d->backend->frame_unmap(d->gpu, frame_address(f), f->array->frame_bytes);
    count_since(begin, &d->counters.mappings, &d->counters.mapping_ns);
    pthread_mutex_lock(&rt->lock);
    if (d->info.whole)
        f->array->residence[d->index].window = 0;
    if (error && !d->lost)
        kmm__error_note(rt, error, "%s: %s", d->info.name, d->backend->error_text(d->backend));
    if (f->away)
        away_destroy(f);
    else
        spare_push(d, f->handle, f->array->frame_bytes);
    f->shared = 0;
    f->allowed = false;
    frame_set(f, KMM__FRAME_ABSENT);
}

/* ---- Eviction ---- */

typedef struct eviction {
    kmm__frame_t *frame;
    kmm__ticket_t *ticket;
    kmm__held_t held;
    int error;  /* of enqueuing it */
    char *text; /* its text */
} eviction_t;

static void eviction_done(void *arg, int status)
{
    eviction_t *e = arg;
    kmm__frame_t *f = e->frame;
    kmm__device_t *d = f->device;
    kmm_runtime_t *rt = d->runtime;
    pthread_mutex_lock(&rt->lock);
    kmm__spill_release(rt, &e->held);
    bool is_news =
        status && !d->lost; /* else it has been told, and who uses this data is told of that */
    if (status)
        kmm__device_lose(d, status);
    if (is_news) {
        kmm__error_note(rt, status, "%s: data was lost while it was copied to the host: %s",
                        d->info.name, d->backend->error_text(d->backend));
    }
    kmm__device_doubt(d, e->ticket->point ? e->ticket->point->event : NULL, e->error);
    if (e->error || status)
        e->ticket->error = status ? status : e->error;
    if (e->error && e->ticket->waiter_count) /* somebody was about to use the host's copy */
        kmm__error_note(rt, e->error, "%s", e->text);
    kmm__ticket_done(e->ticket);
    if (e->error && !status) {
        kmm__coherence_restore(d, f, e->ticket);
        frame_set(f, KMM__FRAME_MAPPED);
        list_push(&d->memory->idle, f);
    } else {
        frame_set(f, KMM__FRAME_EVICTED);
        f->next = d->memory->evicted;
        d->memory->evicted = f;
    }
    kmm__ticket_unref(e->ticket);
    d->memory->evicting--;
    d->memory->evicting_bytes -= bytes_here(f);
    kmm__device_wake(d);
    pthread_cond_broadcast(&rt->progress);
    pthread_mutex_unlock(&rt->lock);
    free(e->text);
    free(e);
}

/* Begins to evict an idle frame; when nothing has to be copied it is unmapped at once. When copies
 * cannot be enqueued, the frame is idle again once those that were are over. An error says that, or
 * that the host has no room for it. May do nothing: somebody may have pinned it while room was
 * made. */
static int frame_evict(kmm_runtime_t *rt, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    kmm__moves_t moves = {0};
    kmm__held_t held = {0};
    bool matters = f->array->refs > 0 && !d->lost;
    if (matters && !kmm__array_host(f->array))
        return kmm__error_set(KMM_E_MEMORY, "%s: no host memory to make room by copying to",
                              d->info.name);
    int error = matters ? kmm__spill_hold_frame(f, &held) : 0;
    if (error || f->pins) {
        kmm__spill_release(rt, &held);
        return error;
    }
    list_remove(&d->memory->idle, f);
    if (matters)
        kmm__coherence_evict(d, f, &moves);
    if (moves.count == 0) {
        kmm__spill_release(rt, &held);
        frame_unmap(rt, f);
        return 0;
    }
    eviction_t *e = kmm__alloc(sizeof(*e));
    *e = (eviction_t){f, moves.move[0].ticket, held, 0, NULL};
    kmm__ticket_ref(e->ticket);
    frame_set(f, KMM__FRAME_EVICTING);
    d->memory->evicting++;
    d->memory->evicting_bytes += bytes_here(f);
    pthread_mutex_unlock(&rt->lock);
    error = e->error = kmm__moves_enqueue(&moves, true);
    if (error) {
        kmm__error_set(error, "%s: making room by copying to the host: %s", d->info.name,
                       d->backend->error_text(d->backend));
        e->text = kmm__copy_text(kmm__error_get());
    }
    pthread_mutex_lock(&d->out_lock);
    int notified = kmm__stage_notify(d, eviction_done, e);
    pthread_mutex_unlock(&d->out_lock);
    if (notified)
        eviction_done(e, notified);
    pthread_mutex_lock(&rt->lock);
    kmm__moves_drop(&moves);
    return error;
}

static void evicted_take(kmm__device_t *d, kmm__frame_t *f)
{
    kmm__frame_t **at = &d->memory->evicted;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    f->next = NULL;
}

/* The frame of a list that is needed farthest ahead, but for those that the acquisition has listed,
 * and those that are away. One that is listed may be idle: its eviction was under way, and has
 * failed. There are few enough to look at them all: evicting one takes a device longer. */
static kmm__frame_t *farthest(const kmm__device_t *d, kmm__frame_t *list, uint64_t *next)
{
    kmm__frame_t *best = NULL;
    *next = 0;
    for (kmm__frame_t *f = list; f; f = f->next) {
        uint64_t n = f->away || (f->stamp == d->memory->stamp && (f->pins || d->memory->acquires))
                         ? 0
                         : kmm__uses_next(d->runtime, f, d->memory->now);
        if (n <= *next)
            continue;
        best = f;
        *next = n;
    }
    return best;
}

/* In a sweep what was used a little before is as good a choice, and there at once. */
static bool is_much_later(uint64_t next, uint64_t other, uint64_t now)
{
    return next > other && (other <= now || 5 * (next - now) > 6 * (other - now));
}

/* The frame to evict when `coming` bytes are free or will be, and `needed` are wanted. None when
 * frames that work still uses make up the difference and are needed so much later than all that are
 * idle that they are worth waiting for: what is idle would have to come back well before them. */
static kmm__frame_t *choose_victim(const kmm__device_t *d, uint64_t coming, uint64_t needed)
{
    uint64_t idle_next;
    kmm__frame_t *idle = farthest(d, d->memory->idle, &idle_next);
    bool later = false;
    for (const kmm__frame_t *f = d->memory->busy; f && idle; f = f->next) {
        if (f->away || f->stamp == d->memory->stamp ||
            !is_much_later(kmm__uses_next(d->runtime, f, d->memory->now), idle_next,
                           d->memory->now))
            continue;
        coming += f->array->frame_bytes;
        later = true;
    }
    return later && coming >= needed ? NULL : idle;
}

/* Finds out whether all that could be evicted is known to be needed again: then what is evicted too
 * early has to come back for it. What streams through memory once may go as early as one likes. */
static void note_needed(kmm__device_t *d)
{
    uint64_t next;
    if (farthest(d, d->memory->idle, &next))
        d->memory->all_needed = kmm__uses_is_known(next);
}

/* How much is kept free while memory is short: what the next tasks may have to map. */
static uint64_t reserve_bytes(const kmm__device_t *d)
{
    uint64_t most = d->memory->limit / AHEAD_PART,
             next = (d->memory->all_needed ? AHEAD_NEEDED : AHEAD_TASKS) * d->memory->missing;
    return next < most ? next : most;
}

void kmm__frames_evict_ahead(kmm__device_t *d)
{
    uint64_t free_bytes =
        d->memory->limit > d->memory->used ? d->memory->limit - d->memory->used : 0;
    if (!d->memory->pressure)
        return;
    note_needed(d);
    for (uint32_t k = 0; k < d->memory->spare_count; k++)
        free_bytes += d->memory->spare[k].bytes;
    free_bytes += d->memory->evicting_bytes + d->memory->ahead_bytes;
    for (kmm__frame_t *f = d->memory->evicted; f; f = f->next)
        free_bytes += bytes_here(f);
    for (kmm__frame_t *victim; free_bytes < reserve_bytes(d) &&
                               (victim = choose_victim(d, free_bytes, reserve_bytes(d)));) {
        free_bytes += victim->array->frame_bytes;
        if (frame_evict(d->runtime, victim)) {
            d->memory->pressure = 0; /* who needs the room finds out why there is none */
            return;
        }
    }
}

/* ---- Acquisition ---- */

typedef struct wanted {
    kmm__task_t *task;
    kmm__frame_t **frames; /* those that were not mapped */
    uint32_t count, capacity;
    kmm__frame_t **closed; /* those that are, and to which the device has no access yet */
    uint32_t closed_count, closed_capacity;
    uint64_t bytes;   /* of all that is wanted, but for what is away already */
    uint64_t missing; /* of what is not mapped yet */
    uint64_t ahead;   /* of what was mapped ahead */
    uint64_t held;    /* of what it has of the device's memory */
    bool exceeds;     /* what finds no room is to be away */
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
    w->bytes += bytes_here(f);
    if (f->state == KMM__FRAME_MAPPED) {
        w->held += bytes_here(f);
        w->ahead += f->ahead ? f->array->frame_bytes : 0;
        kmm__frame_pin(w->task, f);
        note_closed(w, f); /* giving access has failed before */
        return;
    }
    w->frames = kmm__grow(w->frames, w->count, &w->capacity, sizeof(*w->frames));
    w->frames[w->count++] = f;
    w->missing += f->array->frame_bytes;
}

/* As kmm__frames_of with `want`, whose cost for what is flat is most of what a small task's frames
 * cost. */
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
    if (kmm__pack_take(d, a->bytes, &r->window)) {
        r->is_packed = true;
        return 0;
    }
    pthread_mutex_unlock(&rt->lock);
    int error = d->backend->window_reserve(d->gpu, a->frame_count * a->frame_bytes, &window);
    pthread_mutex_lock(&rt->lock);
    if (error)
        return kmm__error_set(error, "%s: %s", d->info.name, d->backend->error_text(d->backend));
    kmm__frames_table(a, d);
    r->window = window;
    return 0;
}

static int driver_error(const kmm__device_t *d, int error)
{
    return kmm__error_set(error, "%s: %s", d->info.name, d->backend->error_text(d->backend));
}

/* What of an access's frames there is, and what of it takes the device's memory. */
typedef struct counted {
    uint64_t frames, here;
} counted_t;

static void count_frame(void *ctx, kmm__frame_t *f)
{
    counted_t *c = ctx;
    c->frames++;
    c->here += !f->away;
}

/* Bytes of the frames that one of `parts` equal parts of t touches at most. What touches all frames
 * of an array beside other chunks is taken to do so however small it is. */
static uint64_t part_bytes(const kmm__task_t *t, uint64_t parts)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        counted_t c = {0, 0};
        if (a->array->object.is_abstract)
            continue;
        kmm__frames_of(a->array, t->device, a->layout, &a->box, count_frame, &c);
        bool stays = t->work->chunk_count > 1 && c.frames == a->array->frame_count;
        uint64_t least = (c.frames + parts - 1) / parts + 1; /* it may begin inside a frame */
        bytes += (stays || least > c.here ? c.here : least) * a->array->frame_bytes;
    }
    return bytes;
}

/* In how many parts t would fit; 0: in none. */
static uint64_t parts_that_fit(const kmm__task_t *t, uint64_t needed)
{
    enum { MOST = 1 << 20 };
    uint64_t limit = t->device->memory->limit, parts = limit ? (needed + limit - 1) / limit : MOST;
    while (parts < MOST && part_bytes(t, parts) > limit)
        parts += parts / 16 + 1;
    return parts < MOST ? parts : 0;
}

/* Whether what t needs more than there is may be in the host's memory: when no other chunk than
 * this was asked for, or no smaller one would do. Where the host's memory is limited, or the driver
 * cannot map it, nothing may. */
static bool may_exceed(const kmm__task_t *t, uint64_t needed)
{
    const kmm__device_t *d = t->device;
    if (!d->info.away || d->runtime->memory->spill)
        return false;
    return t->work->may_exceed || (d->memory->limit && parts_that_fit(t, needed) == 0);
}

static int too_large(kmm__task_t *t, uint64_t needed)
{
    kmm__device_t *d = t->device;
    if (d->info.whole)
        return kmm__error_set(KMM_E_MEMORY,
                              "needs %llu bytes on %s, of which %llu can be used; its driver "
                              "cannot map memory in parts, "
                              "so that each array a chunk uses is there whole",
                              (unsigned long long)needed, d->info.name,
                              (unsigned long long)d->memory->limit);
    if (d->memory->limit == 0)
        return kmm__error_set(KMM_E_MEMORY, "needs %llu bytes on %s, which has no memory left",
                              (unsigned long long)needed, d->info.name);
    uint64_t parts = parts_that_fit(t, needed);
    char remedy[128] = "no chunk is small enough, because each uses so much of its arrays";
    if (parts)
        snprintf(remedy, sizeof(remedy), "a chunk of at most 1/%llu of its size would fit",
                 (unsigned long long)parts);
    return kmm__error_set(
        KMM_E_MEMORY, "needs %llu bytes on %s at once, of which %llu can be used; %s",
        (unsigned long long)needed, d->info.name, (unsigned long long)d->memory->limit, remedy);
}

/* Waits for something to change; KMM_E_MEMORY when nothing can. */
static int wait_for_memory(kmm__device_t *d, uint64_t own_pinned)
{
    if (!d->memory->evicting && d->memory->pinned_bytes <= own_pinned &&
        !d->memory->is_moving_ahead)
        return KMM_E_MEMORY;
    uint64_t begin = kmm__now();
    pthread_cond_wait(&d->wake, &d->runtime->lock);
    d->counters.waiting_ns += kmm__now() - begin;
    return 0;
}

/* What there is to warn of is said once for each kernel, function or task, and not of more than
 * there is room to remember. */
static bool is_first(const void *said[KMM__WARNED], const kmm__work_t *w)
{
    const void *what = w->kernel       ? (const void *)w->kernel
                       : w->item_count ? w->item_text[0]
                                       : w->name;
    int k = 0;
    while (k < KMM__WARNED && said[k] && said[k] != what)
        k++;
    if (k == KMM__WARNED || said[k])
        return false;
    said[k] = what;
    return true;
}

/* What needs more than there is works on the host's memory, which is slow. */
static void say_exceeding(const wanted_t *w)
{
    const kmm__task_t *t = w->task;
    const kmm__work_t *work = t->work;
    kmm__device_t *d = t->device;
    char where[320],
        remedy[96] = "no chunk is small enough, because each uses so much of its arrays";
    if (!is_first(d->memory->exceeding, work))
        return;
    if (work->item_count == 0) {
        fprintf(stderr,
                "kmm: warning: kernel %s needs %llu bytes on %s at once, of which %llu can be "
                "used: it works on the rest in the host's "
                "memory, slowly; `#pragma kmm parallel` above its launch splits it\n",
                work->name, (unsigned long long)w->bytes, d->info.name,
                (unsigned long long)d->memory->limit);
        return;
    }
    uint64_t parts = work->is_inline ? 1 : parts_that_fit(t, w->bytes);
    if (parts)
        snprintf(remedy, sizeof(remedy), "a chunk of at most 1/%llu of its size would fit",
                 (unsigned long long)parts);
    kmm__task_describe(t, where, sizeof(where));
    fprintf(stderr,
            "kmm: warning: %s: needs %llu bytes on %s at once, of which %llu can be used: it works "
            "on the rest in the host's memory, slowly%s%s "
            "[exceeding]\n",
            where, (unsigned long long)w->bytes, d->info.name, (unsigned long long)d->memory->limit,
            work->is_inline ? "" : "; ", work->is_inline ? "" : remedy);
}

/* Memory comes in frames. A chunk that uses little of many of them, like a narrow tile of long
 * rows, has them all brought and others evicted for them: said of chunks that take a good part of
 * the device. */
static void say_amplified(const wanted_t *w)
{
    enum {
        MUCH = 4,
        PART = 16,
        EDGES = 2
    }; /* whatever is small lies in as many frames as it has edges */
    const kmm__task_t *t = w->task;
    kmm__device_t *d = t->device;
    uint64_t used = 0, brought = 0;
    char where[320];
    if (t->part.chunk || t->work->chunk_count < 2 || !t->work->kernel ||
        w->bytes < d->memory->limit / PART || d->info.whole)
        return;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        counted_t c = {0, 0};
        if (a->array->object.is_abstract)
            continue;
        kmm__frames_of(a->array, d, a->layout, &a->box, count_frame, &c);
        used += (uint64_t)kmm__box_volume(&a->box);
        brought += (c.here > EDGES ? c.here - EDGES : 0) * a->array->frame_bytes;
    }
    if (brought <= MUCH * used || !is_first(d->memory->amplified, t->work))
        return;
    kmm__task_describe(t, where, sizeof(where));
    fprintf(stderr,
            "kmm: warning: %s: uses %llu bytes, but they lie in %llu bytes of frames, all of which "
            "it needs on %s; chunks of whole rows "
            "need less [amplification]\n",
            where, (unsigned long long)used, (unsigned long long)w->bytes, d->info.name);
}

/* Memory of the host's for f, since the device has no room for it. */
static int frame_place_away(wanted_t *w, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    uint64_t bytes = f->array->frame_bytes;
    pthread_mutex_unlock(&d->runtime->lock);
    int error = d->backend->frame_create_away(d->gpu, bytes, &f->handle);
    pthread_mutex_lock(&d->runtime->lock);
    if (error)
        return error == KMM_E_MEMORY ? too_large(w->task, w->bytes) : driver_error(d, error);
    f->away = true;
    d->memory->away += bytes;
    if (d->memory->away > d->counters.away_most)
        d->counters.away_most = d->memory->away;
    return 0;
}

/* Whether what finds no room is to be away. The driver may have less than there was when the
 * acquisition began. */
static bool exceeds_now(wanted_t *w)
{
    if (!w->exceeds && may_exceed(w->task, w->bytes)) {
        w->exceeds = true;
        say_exceeding(w);
    }
    return w->exceeds;
}

/* A physical frame for f: a spare one, a new one, or one that is evicted for it; at last, one that
 * is away. */
static int frame_obtain(wanted_t *w, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    kmm_runtime_t *rt = d->runtime;
    uint64_t bytes = f->array->frame_bytes;
    for (kmm__frame_t *victim;;) {
        if (spare_take(d, bytes, &f->handle))
            return 0;
        if (d->memory->used + bytes <= d->memory->limit) {
            d->memory->used += bytes;
            pthread_mutex_unlock(&rt->lock);
            int error = d->backend->frame_create(d->gpu, bytes, &f->handle);
            pthread_mutex_lock(&rt->lock);
            d->memory->used -= error ? bytes : 0;
            if (error != KMM_E_MEMORY)
                return error ? driver_error(d, error) : 0;
            d->memory->limit = d->memory->used; /* others use the device too */
        } else if (d->memory->spare_count) {
            spare_destroy(rt, d);
        } else if (kmm__pack_trim(d)) {
            continue;
        } else if (d->memory->evicted) {
            kmm__frame_t *gone = d->memory->evicted;
            evicted_take(d, gone);
            frame_unmap(rt, gone);
        } else if (d->memory->evicting_bytes < w->missing + reserve_bytes(d) &&
                   (victim = choose_victim(d, d->memory->evicting_bytes,
                                           w->missing + reserve_bytes(d)))) {
            d->memory->pressure = PRESSURE_LASTS;
            int error = frame_evict(rt, victim);
            if (error)
                return error;
        } else {
            int error = wait_for_memory(d, w->held);
            if (error)
                return exceeds_now(w) ? frame_place_away(w, f) : too_large(w->task, w->bytes);
        }
    }
}

/* It is being mapped ahead, which takes little longer than to be woken: some hundred microseconds
 * for a run. */
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
        pthread_cond_wait(&d->wake, &d->runtime->lock);
}

static int frame_map(wanted_t *w, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    kmm_runtime_t *rt = d->runtime;
    if (f->state == KMM__FRAME_MOVING)
        await_moving(f);
    while (f->state == KMM__FRAME_EVICTING)
        pthread_cond_wait(&d->wake, &rt->lock);
    if (f->state == KMM__FRAME_EVICTED) {
        evicted_take(d, f); /* its contents are no longer counted on, but it is still mapped */
        frame_set(f, KMM__FRAME_MAPPED);
        list_push(&d->memory->idle, f);
    } else if (f->state != KMM__FRAME_MAPPED) { /* it may be by now: ahead, or again, since an
                                                   eviction has failed */
        frame_set(f, KMM__FRAME_MOVING);        /* from here on, so that nobody maps it ahead */
        kmm__ahead_wake(d);
        int error = frame_obtain(w, f);
        if (error) {
            frame_set(f, KMM__FRAME_ABSENT);
            return error;
        }
        pthread_mutex_unlock(&rt->lock);
        uint64_t begin = kmm__now();
        error = d->info.whole ? 0
                              : d->backend->frame_place(d->gpu, frame_address(f), f->handle,
                                                        f->array->frame_bytes);
        count_since(begin, &d->counters.mappings, &d->counters.mapping_ns);
        pthread_mutex_lock(&rt->lock);
        if (error) {
            frame_set(f, KMM__FRAME_ABSENT);
            driver_error(d, error);
            if (f->away)
                away_destroy(f);
            else
                spare_push(d, f->handle, f->array->frame_bytes);
            return error;
        }
        if (d->info.whole)
            f->array->residence[d->index].window = f->handle;
        frame_set(f, KMM__FRAME_MAPPED);
        f->allowed = d->info.whole;
        d->memory->ahead_failed = false;
        list_push(&d->memory->idle, f);
    }
    kmm__frame_pin(w->task, f);
    note_closed(w, f);
    w->missing -= f->array->frame_bytes;
    w->held += bytes_here(f);
    return 0;
}

/* Those that are being mapped ahead right now come last. */
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

/* Gives the device access to all that the acquisition has mapped, runs of frames at a time. */
static int frames_allow(const wanted_t *w, kmm__device_t *d)
{
    int error = 0;
    for (uint32_t k = 0, n; k < w->closed_count && !error; k += n) {
        kmm__frame_t *first = w->closed[k];
        for (n = 1; k + n < w->closed_count && w->closed[k + n] == first + n &&
                    w->closed[k + n]->array == first->array;
             n++)
            ;
        pthread_mutex_unlock(&d->runtime->lock);
        uint64_t begin = kmm__now();
        error =
            d->backend->frames_allow(d->gpu, frame_address(first), n * first->array->frame_bytes);
        count_since(begin, &d->counters.allowings, &d->counters.mapping_ns);
        pthread_mutex_lock(&d->runtime->lock);
        for (uint32_t j = 0; j < n; j++)
            first[j].allowed = !error;
    }
    return error ? driver_error(d, error) : 0;
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

/* While memory is short a device's thread does not go far ahead of its copies: what it evicted for
 * tasks that wait behind others would have been better kept. Others that hold memory wait for none,
 * so they come to an end. */
static void await_turn(const wanted_t *w)
{
    kmm__device_t *d = w->task->device;
    uint64_t usual = d->memory->missing > w->missing ? d->memory->missing : w->missing;
    if (!d->memory->pressure || !w->missing)
        return;
    note_needed(d);
    while (d->memory->all_needed && d->memory->coming > COMING_TASKS * usual)
        if (wait_for_memory(d, w->held))
            return;
}

int kmm__frames_acquire(kmm__task_t *t, bool resident)
{
    kmm__device_t *d = t->device;
    wanted_t w = {.task = t};
    int error = resident ? 0 : windows_ensure(t);
    d->memory->stamp++;
    d->memory->now = t->sequence;
    for (uint32_t k = 0; k < t->access_count && !error; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (!a->array->object.is_abstract)
            want_box(&w, a);
    }
    if (!error)
        t->residency.is_expected = false;
    uint64_t coming = w.missing + w.ahead;
    if (coming) /* tasks that begin and end inside frames differ from one to the next */
        d->memory->missing = d->memory->missing ? (3 * d->memory->missing + coming) / 4 : coming;
    if (d->memory->pressure && w.missing == 0)
        d->memory->pressure--;
    if (w.bytes > d->memory->limit)
        d->memory->limit = d->memory->most; /* the driver may have more by now */
    w.exceeds = w.bytes > d->memory->limit && may_exceed(t, w.bytes);
    if (!error && w.bytes > d->memory->limit && !w.exceeds)
        error = too_large(t, w.bytes);
    if (!error && w.exceeds)
        say_exceeding(&w);
    if (!error)
        say_amplified(&w);
    if (w.ahead)
        kmm__ahead_wake(d);
    if (w.count == 0 && w.closed_count == 0) {
        t->residency.coming = error ? 0 : coming;
        d->memory->coming += t->residency.coming;
        return error;
    }
    d->memory->acquires = true;
    if (!error)
        await_turn(&w);
    if (!error)
        error = frames_map(&w);
    if (!error)
        error = frames_allow(&w, d);
    d->memory->acquires = false;
    t->residency.coming = error ? 0 : coming;
    d->memory->coming += t->residency.coming;
    free(w.frames);
    free(w.closed);
    return error;
}

/* ---- Ahead ---- */

enum { AHEAD_LOOK = 64, AHEAD_RUN = 16 };

/* Frames side by side that are not mapped, and for which there is room. */
typedef struct ahead {
    kmm__device_t *device;
    kmm__frame_t *first;
    uint32_t count;
    bool is_new[AHEAD_RUN];
} ahead_t;

/* Room for one more: free memory, as long as what is mapped and not used yet is no great part of
 * the device. */
static bool ahead_reserve(kmm__device_t *d, uint64_t bytes, kmm__frame_handle_t *handle,
                          bool *is_new)
{
    if (d->memory->ahead_bytes + bytes > d->memory->limit / AHEAD_PART)
        return false;
    *is_new = !spare_take(d, bytes, handle);
    if (*is_new && d->memory->used + bytes > d->memory->limit)
        return false;
    d->memory->used += *is_new ? bytes : 0;
    d->memory->ahead_bytes += bytes;
    return true;
}

static void ahead_add(void *ctx, kmm__frame_t *f)
{
    ahead_t *a = ctx;
    if (f->state != KMM__FRAME_ABSENT || a->count == AHEAD_RUN ||
        (a->count && (f->array != a->first->array || f != a->first + a->count)))
        return;
    if (!ahead_reserve(a->device, f->array->frame_bytes, &f->handle, &a->is_new[a->count]))
        return;
    if (a->count++ == 0)
        a->first = f;
    f->ahead = true;
    frame_set(f, KMM__FRAME_MOVING);
}

/* Not locked. How many of them are mapped; those that have memory and are not are no longer new. */
static uint32_t ahead_place(ahead_t *a, int *error)
{
    kmm__device_t *d = a->device;
    uint64_t bytes = a->first->array->frame_bytes;
    uint32_t k = 0;
    for (; k < a->count; k++) {
        kmm__frame_t *f = a->first + k;
        *error = a->is_new[k] ? d->backend->frame_create(d->gpu, bytes, &f->handle) : 0;
        if (*error)
            break;
        a->is_new[k] = false;
        if ((*error = d->backend->frame_place(d->gpu, frame_address(f), f->handle, bytes)))
            break;
    }
    return k;
}

/* Locked: what could not be mapped is as if it had never been tried; whoever needs it tries again,
 * and says why it fails. */
static void ahead_undo(const ahead_t *a, uint32_t k)
{
    kmm__frame_t *f = a->first + k;
    ahead_end(f);
    frame_set(f, KMM__FRAME_ABSENT);
    if (a->is_new[k])
        a->device->memory->used -= f->array->frame_bytes;
    else
        spare_push(a->device, f->handle, f->array->frame_bytes);
}

/* Finds frames of the tasks in the queue, the first ones first, and takes room for them. */
static void ahead_find(ahead_t *a)
{
    const kmm__device_t *d = a->device;
    const kmm__task_t *t;
    for (uint32_t k = 0; k < AHEAD_LOOK && !a->count && (t = d->memory->next_task(d, k)); k++) {
        for (uint32_t j = 0; j < t->access_count && !t->error && !a->count; j++) {
            const kmm__access_t *x = &t->accesses[j];
            const kmm__residence_t *r = &x->array->residence[d->index];
            if (r->window && !r->is_packed && r->mapped < x->array->frame_count)
                kmm__frames_of(x->array, a->device, x->layout, &x->box, ahead_add, a);
        }
    }
}

bool kmm__frames_map_ahead(kmm__device_t *d)
{
    ahead_t a = {.device = d};
    int error = 0, refused = 0;
    if (d->memory->pressure || d->lost || d->memory->ahead_failed)
        return false;
    ahead_find(&a);
    if (a.count == 0)
        return false;
    d->memory->is_moving_ahead = true;
    pthread_mutex_unlock(&d->runtime->lock);
    uint64_t begin = kmm__now(), bytes = a.first->array->frame_bytes;
    uint32_t placed = ahead_place(&a, &error);
    if (placed)
        refused = d->backend->frames_allow(d->gpu, frame_address(a.first), placed * bytes);
    uint64_t took = kmm__now() - begin;
    pthread_mutex_lock(&d->runtime->lock);
    for (uint32_t k = 0; k < placed; k++) {
        a.first[k].allowed = !refused;
        frame_set(&a.first[k], KMM__FRAME_MAPPED);
        list_push(&d->memory->idle, &a.first[k]);
    }
    for (uint32_t k = placed; k < a.count; k++)
        ahead_undo(&a, k);
    d->memory->is_moving_ahead = false;
    d->memory->ahead_failed = error || refused;
    d->counters.mapped_ahead += placed;
    d->counters.ahead_ns += took;
    kmm__device_wake(d);
    return !d->memory->ahead_failed;
}

/* Frames side by side that another device is to have access to. */
typedef struct share {
    kmm__device_t *to;
    kmm__frame_t *first;
    uint32_t count;
} share_t;

/* Where it cannot be, copies are slower and no less right. */
static void share_run(share_t *s)
{
    kmm__frame_t *f = s->first;
    if (s->count == 0)
        return;
    uint64_t begin = kmm__now();
    f->device->backend->frame_share(f->device->gpu, frame_address(f),
                                    s->count * f->array->frame_bytes, s->to->gpu);
    count_since(begin, &f->device->counters.sharings, &f->device->counters.sharing_ns);
    s->count = 0;
}

static void share_frame(void *ctx, kmm__frame_t *f)
{
    share_t *s = ctx;
    kmm_runtime_t *rt = f->device->runtime;
    uint32_t bit = 1u << s->to->index;
    pthread_mutex_lock(&rt->lock);
    bool shared = f->shared & bit;
    f->shared |= bit;
    pthread_mutex_unlock(&rt->lock);
    if (shared)
        return;
    if (s->count && f != s->first + s->count)
        share_run(s);
    if (s->count == 0)
        s->first = f;
    s->count++;
}

void kmm__frames_share(kmm__array_t *a, kmm__device_t *from, kmm__device_t *to,
                       const kmm__layout_t *l, const kmm__box_t *b)
{
    share_t s = {.to = to};
    if (a->residence[from->index].is_packed) {
        kmm__pack_share(from, a->residence[from->index].window, to);
        return;
    }
    kmm__frames_of(a, from, l, b, share_frame, &s);
    share_run(&s);
}

static void check_resident(void *ctx, kmm__frame_t *f)
{
    bool *all = ctx;
    *all &= f->state == KMM__FRAME_MAPPED;
}

/* Whether the array has addresses on the device, or needs none until its frame is mapped. */
static bool is_reached(const kmm__device_t *d, const kmm__array_t *a)
{
    const kmm__residence_t *r = &a->residence[d->index];
    return d->info.whole ? r->frames != NULL : r->window != 0;
}

/* Once they are they stay, as long as the work is there. */
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

/* ---- Service ---- */

/* Releases what a dead array has here; false when some of it is still being evicted, or mapped
 * ahead. */
static bool residence_release(kmm__device_t *d, kmm__array_t *a)
{
    kmm_runtime_t *rt = d->runtime;
    kmm__residence_t *r = &a->residence[d->index];
    for (uint32_t k = 0; r->frames && k < a->frame_count; k++) {
        kmm__frame_t *f = &r->frames[k];
        if (f->state == KMM__FRAME_EVICTING || f->state == KMM__FRAME_MOVING)
            return false;
        if (f->state == KMM__FRAME_EVICTED)
            evicted_take(d, f);
        else if (f->state == KMM__FRAME_MAPPED)
            list_remove(&d->memory->idle, f);
        if (f->state != KMM__FRAME_ABSENT)
            frame_unmap(rt, f);
        kmm__uses_free(f);
    }
    if (r->is_packed) {
        kmm__pack_return(d, r->window);
    } else if (r->window) {
        pthread_mutex_unlock(&rt->lock);
        d->backend->window_release(d->gpu, r->window, a->frame_count * a->frame_bytes);
        pthread_mutex_lock(&rt->lock);
    }
    free(r->frames);
    r->frames = NULL;
    r->window = 0;
    return true;
}

void kmm__frames_service(kmm__device_t *d)
{
    kmm__array_t *waiting = NULL;
    while (d->memory->dead) {
        kmm__array_t *a = d->memory->dead;
        d->memory->dead = a->next_dead[d->index];
        if (residence_release(d, a)) {
            kmm__array_left(a);
            continue;
        }
        a->next_dead[d->index] = waiting;
        waiting = a;
    }
    d->memory->dead = waiting;
}

void kmm__frames_close(kmm__device_t *d)
{
    while (d->memory->spare_count) {
        kmm__spare_t s = d->memory->spare[--d->memory->spare_count];
        d->backend->frame_destroy(d->gpu, s.handle, s.bytes);
    }
    free(d->memory->spare);
    d->memory->spare = NULL;
    kmm__pack_close(d);
}
