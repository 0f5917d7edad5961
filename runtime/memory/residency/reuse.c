/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order by reuse. Where not all arrays have room on a device, tasks are taken in *waves*: a wave
 * begins with a task that needs data from the host, and goes on with the tasks that work on what is
 * there then. In a time loop a wave is a chunk of the first step, the chunk of the second step for
 * which that was the last to be missing, one of the third step, and so on: the blocks of time
 * skewing (Wonnacott, "Using time skewing to eliminate idle time due to memory bandwidth and
 * network limitations", 2000), found from the dependences of the tasks.
 *
 * A task joins the wave of the last task that it follows, unless it has to bring more bytes than
 * are there then, and if there is room. For this each wave has the bytes of the frames that are
 * live in it, which are those that it uses and those that are used before and after it. If there is
 * no room, so many steps have been put on each other that the device is full: the task begins a
 * wave of its own behind all others.
 *
 * A wave's number in the order is that of its first task. A task's number is greater than that of
 * what it follows, and its wave is not before theirs. So the order of waves, and of tasks in each,
 * is one in which every task comes behind all that it follows.
 */
#include "memory/residency/reuse.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "memory/residency/pack.h"

/* FAR: waves over which a frame is kept for a task. Of the device, 1 / SPARE_LEAST is left to
 * copies under way, or 1 / SPARE_MOST if SPARE_TASKS tasks use more than that on average. These are
 * two steps, because a step of the loop has to find the same room everywhere. */
enum { FAR = 24, SPARE_TASKS = 2, SPARE_LEAST = 8, SPARE_MOST = 4 };

typedef struct wave {
    uint64_t rank; /* number of its first task */
    uint64_t live; /* bytes of the frames that are live in it */
} wave_t;

/* A frame of the task that is being ranked, and the first of the waves for which it was added to
 * their live bytes; 0: to none. */
typedef struct joining {
    kmm__frame_t *frame;
    uint64_t from;
    bool reads; /* the task reads some of it */
} joining_t;

/* The waves from the one that is under way, in a ring. Waves are counted from 1. */
struct kmm__waves {
    wave_t *ring;
    uint32_t capacity;   /* a power of two */
    uint64_t first, end; /* numbers of the oldest wave that is kept, and of the next one */
    joining_t *joining;
    uint32_t joining_count, joining_capacity;
    /* of the task that is being ranked: its number, which marks its frames, and whether the access
     * whose frames are listed reads */
    uint64_t stamp;
    bool reads;
    /* the launch in which a task found no room last, the wave in which it did not, and the wave
     * that it began */
    uint64_t cut_work, cut_wave, cut_to;
    uint64_t usual; /* bytes of frames that a wave's first task uses, on average */
};

static wave_t *wave(const struct kmm__waves *w, uint64_t number)
{
    return &w->ring[number & (w->capacity - 1)];
}

static struct kmm__waves *waves_of(kmm__device_t *d)
{
    enum { LEAST = 64 };
    if (!d->memory->waves) {
        struct kmm__waves *w = d->memory->waves = kmm__alloc(sizeof(*w));
        w->capacity = LEAST;
        w->ring = kmm__alloc(w->capacity * sizeof(*w->ring));
        w->first = w->end = 1;
        kmm__log_info("%s: order by reuse begins: arrays have %s and the device has %s; it looks "
                      "ahead as far as %s of bookkeeping reach",
                      d->info.name, KMM__BYTES(d->runtime->memory->framed_bytes),
                      KMM__BYTES(d->memory->limit), KMM__BYTES(KMM__MOST_KEPT));
    }
    return d->memory->waves;
}

/* Adds a wave at the end. Returns its number. */
static uint64_t wave_begin(struct kmm__waves *w, uint64_t rank)
{
    if (w->end - w->first == w->capacity) {
        wave_t *ring = kmm__alloc(2 * (size_t)w->capacity * sizeof(*ring));
        for (uint64_t k = w->first; k < w->end; k++)
            ring[k & (2 * (uint64_t)w->capacity - 1)] = *wave(w, k);
        free(w->ring);
        w->ring = ring;
        w->capacity *= 2;
    }
    *wave(w, w->end) = (wave_t){rank, 0};
    return w->end++;
}

/* Returns the first wave whose rank is at least `rank`; 0: there is none. A rank may be that of a
 * wave of another device. */
static uint64_t wave_find(const struct kmm__waves *w, uint64_t rank)
{
    uint64_t low = w->first, high = w->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (wave(w, middle)->rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->end ? low : 0;
}

/* ---- The frames of a task ---- */

static void list_frame(void *ctx, kmm__frame_t *f)
{
    struct kmm__waves *w = ctx;
    if (f->uses.listed == w->stamp) {
        w->joining[f->uses.listed_at].reads |= w->reads;
        return;
    }
    f->uses.listed = w->stamp;
    f->uses.listed_at = w->joining_count;
    w->joining = kmm__grow(w->joining, w->joining_count, &w->joining_capacity, sizeof(*w->joining));
    w->joining[w->joining_count++] = (joining_t){f, 0, w->reads};
}

static void list_frames(struct kmm__waves *w, kmm__task_t *t)
{
    w->joining_count = 0;
    w->stamp = t->sequence + 1;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (a->array->object.is_abstract)
            continue;
        w->reads = a->mode != KMM_WRITE;
        kmm__frames_table(a->array, t->device);
        kmm__frames_of(a->array, t->device, a->layout, &a->box, list_frame, w);
    }
}

/* ---- Joining a wave ---- */

/* Adds a frame to the live bytes of waves `from` to `to`. False: some have no room for it, and
 * nothing was added. */
static bool live_add(struct kmm__waves *w, joining_t *j, uint64_t from, uint64_t to, uint64_t room)
{
    uint64_t bytes = kmm__frame_bytes(j->frame);
    for (uint64_t k = from; k <= to; k++)
        if (wave(w, k)->live + bytes > room)
            return false;
    for (uint64_t k = from; k <= to; k++)
        wave(w, k)->live += bytes;
    j->from = from;
    return true;
}

static void live_remove(struct kmm__waves *w, const joining_t *j, uint64_t to)
{
    for (uint64_t k = j->from; k && k <= to; k++)
        wave(w, k)->live -= kmm__frame_bytes(j->frame);
}

/* Returns the first wave from which the frame has to be kept so that it is there in wave `to`; 0:
 * it is not there before. */
static uint64_t kept_from(const struct kmm__waves *w, const kmm__frame_t *f, uint64_t to)
{
    uint64_t last = f->uses.last_wave;
    if (last < w->first) /* no task that is to come has used it */
        return f->state == KMM__FRAME_MAPPED && to - w->first <= FAR ? w->first : 0;
    return last < to && to - last <= FAR ? last + 1 : 0;
}

static bool is_live(const kmm__frame_t *f, uint64_t number)
{
    return f->uses.first_wave <= number && number <= f->uses.last_wave;
}

/* Adds all frames of the listed task to a wave. False: there is no room (*has_room), or more has to
 * be brought for it than is there. A task that follows nobody joins a wave only if nothing has to
 * be brought. */
static bool wave_takes(struct kmm__waves *w, uint64_t number, uint64_t room, bool follows,
                       bool *has_room)
{
    uint64_t there = 0, brought = 0;
    *has_room = true;
    for (uint32_t k = 0; k < w->joining_count && *has_room; k++) {
        joining_t *j = &w->joining[k];
        uint64_t from = kept_from(w, j->frame, number), bytes = kmm__frame_bytes(j->frame);
        if (is_live(j->frame, number) || (from && live_add(w, j, from, number, room))) {
            there += bytes;
        } else {
            brought += j->reads ? bytes : 0;
            *has_room = live_add(w, j, number, number, room);
        }
    }
    if (*has_room && there > 0 && brought <= (follows ? there : 0))
        return true;
    for (uint32_t k = 0; k < w->joining_count; k++) {
        live_remove(w, &w->joining[k], number);
        w->joining[k].from = 0;
    }
    return false;
}

/* Notes in which waves the frames of a task that has joined one are live. */
static void wave_note(struct kmm__waves *w, uint64_t number)
{
    for (uint32_t k = 0; k < w->joining_count; k++) {
        kmm__uses_t *u = &w->joining[k].frame->uses;
        uint64_t from = w->joining[k].from;
        if (from == 0 || u->last_wave > number)
            continue; /* it was live before, or is used later, which is all that is remembered */
        if (u->last_wave == 0 || u->last_wave + 1 < from)
            u->first_wave = from;
        u->last_wave = number;
    }
}

static void wave_start(struct kmm__waves *w, kmm__task_t *t)
{
    enum { PART = 16 };
    uint64_t number = wave_begin(w, t->sequence), bytes = 0;
    for (uint32_t k = 0; k < w->joining_count; k++) {
        bytes += kmm__frame_bytes(w->joining[k].frame);
        live_add(w, &w->joining[k], number, number, UINT64_MAX);
    }
    w->usual = w->usual ? w->usual - w->usual / PART + bytes / PART : bytes;
    wave_note(w, number);
}

/* Returns the last wave that uses the first listed frame; 0: none is to come. What a task that
 * follows nobody shares with others, all of them read. */
static uint64_t shared_wave(const struct kmm__waves *w)
{
    uint64_t last = w->joining_count ? w->joining[0].frame->uses.last_wave : 0;
    return last >= w->first ? last : 0;
}

/* True if an earlier task of the launch found no room in an earlier wave: all that come behind it
 * begin at the same step, because steps that begin at different places fit badly on each other. */
static bool is_cut(const struct kmm__waves *w, const kmm__task_t *t, uint64_t number)
{
    return w->cut_to && w->cut_work == t->work_id && w->cut_wave <= number && number < w->cut_to;
}

/* Bytes that may be live in a wave. */
static uint64_t room_for_waves(const kmm__device_t *d)
{
    uint64_t limit = d->memory->limit, spare = limit / SPARE_LEAST;
    if (SPARE_TASKS * d->memory->waves->usual > spare)
        spare = limit / SPARE_MOST;
    spare += kmm__pack_bytes(d);
    return limit > spare ? limit - spare : 0;
}

void kmm__reuse_rank(kmm__task_t *t)
{
    kmm__device_t *d = t->device;
    if (!d->runtime->memory->by_reuse)
        return;
    struct kmm__waves *w = waves_of(d);
    list_frames(w, t);
    uint64_t after = t->order.after, front = d->memory->front,
             number = wave_find(w, after > front ? after : front);
    if (after == 0 && shared_wave(w) > number)
        number = shared_wave(w);
    /* tasks that were submitted while memory was not short have ranks without a wave */
    bool has_room = true, may_join = number && wave(w, number)->rank >= after &&
                                     wave(w, number)->rank + KMM__MOST_LAG >= t->sequence &&
                                     !is_cut(w, t, number);
    if (may_join && wave_takes(w, number, room_for_waves(d), after > 0, &has_room)) {
        t->rank = wave(w, number)->rank;
        wave_note(w, number);
    } else {
        if (!has_room) {
            w->cut_work = t->work_id;
            w->cut_wave = number;
            w->cut_to = w->end;
        }
        wave_start(w, t);
    }
    assert(t->rank >= after && t->rank <= t->sequence);
}

void kmm__reuse_advance(const kmm__task_t *t)
{
    struct kmm__device_memory *m = t->device->memory;
    struct kmm__waves *w = m->waves;
    if (t->rank > m->front)
        m->front = t->rank;
    while (w && w->first + 1 < w->end && wave(w, w->first + 1)->rank <= m->front)
        w->first++;
}

uint64_t kmm__reuse_near(const kmm__device_t *d)
{
    const struct kmm__waves *w = d->memory->waves;
    if (!w || w->first == w->end)
        return 0;
    uint64_t last = w->first + FAR < w->end ? w->first + FAR : w->end - 1;
    return wave(w, last)->rank;
}

void kmm__reuse_free(kmm__device_t *d)
{
    struct kmm__waves *w = d->memory->waves;
    if (!w)
        return;
    free(w->ring);
    free(w->joining);
    free(w);
    d->memory->waves = NULL;
}
