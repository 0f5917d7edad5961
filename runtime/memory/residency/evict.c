/* SPDX-License-Identifier: Apache-2.0 */
/* Eviction of frames. The victim is the frame that is needed farthest in the future (foresight.c).
 * The victim's contents are copied to the host if no other space holds them and some task will read
 * them (dead.c). */
#include "memory/residency/evict.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "memory/coherence.h"
#include "memory/disk/pin.h"
#include "memory/host/stage.h"
#include "memory/lifetime.h"
#include "memory/residency/dead.h"
#include "memory/residency/foresight.h"
#include "memory/residency/physical.h"
#include "memory/residency/reuse.h"

/* The reserve is the room that EARLY_TASKS tasks may have to map, or EARLY_NEEDED tasks if all idle
 * frames are needed again. It is at most limit / EARLY_PART. */
enum { EARLY_TASKS = 4, EARLY_NEEDED = 2, EARLY_PART = 4 };

/* The eviction of one frame, until its copies are done. */
typedef struct eviction {
    kmm__frame_t *frame;
    kmm__ticket_t *ticket;
    kmm__page_pins_t pins;
    int error;  /* error of enqueueing the copies */
    char *text; /* text of that error */
} eviction_t;

static void eviction_done(void *arg, int status)
{
    eviction_t *e = arg;
    kmm__frame_t *f = e->frame;
    kmm__device_t *d = f->device;
    kmm_runtime_t *rt = d->runtime;
    pthread_mutex_lock(&rt->lock);
    kmm__spill_unpin(rt, &e->pins);
    bool is_news = status && !d->lost; /* a loss is reported once */
    if (status)
        kmm__device_lose(d, status);
    if (is_news) {
        kmm__error_note(rt, status, "%s: data was lost while it was copied to the host: %s",
                        d->info.name, d->backend->error_text(d->backend));
    }
    kmm__device_doubt(d, e->ticket->shared ? e->ticket->shared->event : NULL, e->error);
    if (e->error || status)
        e->ticket->error = status ? status : e->error;
    if (e->error && e->ticket->waiter_count) /* a task waits for the copy on the host */
        kmm__error_note(rt, e->error, "%s", e->text);
    kmm__ticket_done(e->ticket);
    if (e->error && !status) {
        kmm__coherence_restore(d, f, e->ticket);
        f->taken = 0;
        kmm__frame_eviction_failed(f);
    } else {
        kmm__frame_evicted(f);
    }
    kmm__ticket_unref(e->ticket);
    kmm__device_wake(d);
    pthread_cond_broadcast(&rt->progress);
    pthread_mutex_unlock(&rt->lock);
    free(e->text);
    free(e);
}

/* Pins the pages to which the frame will be copied. */
static int pin_pages(kmm__frame_t *f, kmm__page_pins_t *pins)
{
    kmm__array_t *a = f->array;
    int64_t begin = (int64_t)(f->index * a->frame_bytes), end = begin + (int64_t)a->frame_bytes;
    if (!a->pages || kmm__frame_is_dead(f))
        return 0;
    return kmm__spill_pin_bytes(a, begin, end < (int64_t)a->bytes ? end : (int64_t)a->bytes,
                                f->device, pins);
}

/* Enqueues the planned copies of a frame, and unlocks while it does so. eviction_done is called
 * when the copies are done. */
static int eviction_start(kmm__frame_t *f, kmm__moves_t *moves, kmm__page_pins_t *pins)
{
    kmm__device_t *d = f->device;
    eviction_t *e = kmm__alloc(sizeof(*e));
    *e = (eviction_t){f, moves->move[0].ticket, *pins, 0, NULL};
    kmm__ticket_ref(e->ticket);
    kmm__frame_begin_eviction(f);
    pthread_mutex_unlock(&d->runtime->lock);
    int error = e->error = kmm__moves_enqueue(moves, true);
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
    pthread_mutex_lock(&d->runtime->lock);
    return error;
}

int kmm__frame_evict(kmm_runtime_t *rt, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    kmm__moves_t moves = {0};
    kmm__page_pins_t pins = {0};
    bool matters = f->array->refs > 0 && !d->lost;
    if (matters && !kmm__array_host(f->array))
        return kmm__error_set(KMM_E_MEMORY, "%s: no host memory to make room by copying to",
                              d->info.name);
    int error = matters ? pin_pages(f, &pins) : 0;
    if (error || f->pins) {
        kmm__spill_unpin(rt, &pins);
        return error;
    }
    if (matters) {
        f->taken = kmm__frame_size(f);
        kmm__count(&d->counters.evicted, f->taken);
        kmm__coherence_evict(d, f, &moves);
    }
    KMM__TRACE(.kind = KMM__EVENT_EVICTED, .mode = moves.count > 0, .device = d->number,
               .a = kmm__array_number(f->array), .b = kmm__frame_size(f),
               .c = f->index * f->array->frame_bytes);
    if (moves.count) {
        error = eviction_start(f, &moves, &pins);
        kmm__moves_drop(&moves);
        return error;
    }
    kmm__spill_unpin(rt, &pins);
    return kmm__frame_unmap(rt, f);
}

/* ---- What comes back ---- */

typedef struct again {
    uint64_t begin, end; /* the hull, in bytes of the array, of what is copied */
    double part;         /* the fraction of the hull that is copied */
    uint64_t bytes;
} again_t;

static void count_again(void *ctx, kmm__frame_t *f)
{
    again_t *g = ctx;
    uint64_t begin = f->index * f->array->frame_bytes, end = begin + kmm__frame_size(f);
    begin = begin > g->begin ? begin : g->begin;
    end = end < g->end ? end : g->end;
    uint64_t bytes = end > begin ? (uint64_t)(g->part * (double)(end - begin)) : 0;
    bytes = bytes < f->taken ? bytes : f->taken;
    f->taken -= bytes;
    g->bytes += bytes;
}

void kmm__frames_count_again(kmm__device_t *d, kmm__array_t *a, const kmm__layout_t *l,
                             const kmm__box_t *b)
{
    int64_t begin, end;
    kmm__layout_hull(l, b, &begin, &end);
    if (end <= begin)
        return;
    again_t g = {(uint64_t)begin, (uint64_t)end, (double)kmm__box_volume(b) / (double)(end - begin),
                 0};
    kmm__frames_of(a, d, l, b, count_again, &g);
    kmm__count(&d->counters.bytes_again, g.bytes);
}

/* ---- Victims ---- */

/* Returns when f is used next. A frame that is overwritten before it is read counts as used after
 * all others, because evicting it moves nothing. The exception is a frame that is used soon, since
 * mapping a frame again takes time. `near`: the greatest rank that is soon. */
static uint64_t next_use(const kmm__frame_t *f, uint64_t near)
{
    const uint64_t OVERWRITTEN = UINT64_C(1) << 59;
    const kmm__device_t *d = f->device;
    uint64_t next = kmm__uses_next(d->runtime, f, d->memory->now);
    return next > near && kmm__frame_is_overwritten(f) ? next | OVERWRITTEN : next;
}

/* Returns the frame of a list that is needed farthest in the future. Leaves out host-backed frames,
 * and frames that the current acquisition has listed. A listed frame may be idle if its eviction
 * failed. Looking at all frames takes less time than evicting one. */
static kmm__frame_t *farthest(const kmm__device_t *d, kmm__frame_t *list, uint64_t *next)
{
    kmm__frame_t *best = NULL;
    uint64_t near = kmm__reuse_near(d);
    *next = 0;
    for (kmm__frame_t *f = list; f; f = f->next) {
        uint64_t n =
            f->host_backed || (f->stamp == d->memory->stamp && (f->pins || d->memory->acquires))
                ? 0
                : next_use(f, near);
        if (n <= *next)
            continue;
        best = f;
        *next = n;
    }
    return best;
}

/* True if use `next` is farther from `now` than use `other` by more than a fifth. An idle frame
 * that is needed only slightly earlier is as good a victim, and needs no wait. */
static bool is_much_later(uint64_t next, uint64_t other, uint64_t now)
{
    return next > other && (other <= now || 5 * (next - now) > 6 * (other - now));
}

kmm__frame_t *kmm__frames_victim(const kmm__device_t *d, uint64_t coming, uint64_t needed)
{
    uint64_t idle_next, near = kmm__reuse_near(d);
    kmm__frame_t *idle = farthest(d, d->memory->idle, &idle_next);
    bool later = false;
    for (const kmm__frame_t *f = d->memory->busy; f && idle; f = f->next) {
        if (f->host_backed || f->stamp == d->memory->stamp ||
            !is_much_later(next_use(f, near), idle_next, d->memory->now))
            continue;
        coming += kmm__frame_size(f);
        later = true;
    }
    return later && coming >= needed ? NULL : idle;
}

/* Early eviction has a cost only if all idle frames are known to be needed again: then a frame that
 * is evicted too early has to come back. */
void kmm__frames_note_needed(kmm__device_t *d)
{
    uint64_t next;
    if (farthest(d, d->memory->idle, &next))
        d->memory->all_needed = kmm__uses_is_known(next);
}

uint64_t kmm__frames_reserve(const kmm__device_t *d)
{
    uint64_t most = d->memory->limit / EARLY_PART,
             next = (d->memory->all_needed ? EARLY_NEEDED : EARLY_TASKS) * d->memory->missing;
    return next < most ? next : most;
}

void kmm__frames_evict_early(kmm__device_t *d)
{
    uint64_t free_bytes =
        d->memory->limit > d->memory->used ? d->memory->limit - d->memory->used : 0;
    if (!d->memory->pressure)
        return;
    kmm__frames_note_needed(d);
    for (uint32_t k = 0; k < d->memory->spare_count; k++)
        free_bytes += d->memory->spare[k].bytes;
    free_bytes += d->memory->evicting_bytes + d->memory->premapped_bytes;
    for (kmm__frame_t *f = d->memory->evicted; f; f = f->next)
        free_bytes += kmm__frame_bytes(f);
    for (kmm__frame_t *victim;
         free_bytes < kmm__frames_reserve(d) &&
         (victim = kmm__frames_victim(d, free_bytes, kmm__frames_reserve(d)));) {
        free_bytes += kmm__frame_size(victim);
        if (kmm__frame_evict(d->runtime, victim)) {
            /* the next acquisition fails for the same reason, and reports it */
            d->memory->pressure = 0;
            return;
        }
    }
}
