/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that need more memory than their device has, or that bring much more to it than they use.
 */
#include "memory/residency/exceed.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "memory/residency/pack.h"

/* Counts frames of an access: all, and those in the device's memory. */
typedef struct counted {
    uint64_t frames, here;
} counted_t;

static void count_frame(void *ctx, kmm__frame_t *f)
{
    counted_t *c = ctx;
    c->frames++;
    c->here += !f->host_backed;
}

/* True if parts of t access as much as t does: its item names the same elements in every chunk, as
 * an item without an axis or a reduction's does. An access of a chunk to all frames of an array is
 * taken to stay so, however small the chunk is. */
static bool stays_whole(const kmm__task_t *t, const kmm__access_t *a, uint64_t frames)
{
    const kmm__work_t *w = t->work;
    if (a->item < w->item_count && !(w->varying >> a->item & 1))
        return true;
    return w->chunk_count > 1 && frames == a->array->frame_count;
}

/* An access, and what its use of one host-backed frame would cost. */
typedef struct costing {
    uint64_t stamp; /* of the frames that are sorted */
    double cost;
} costing_t;

static void add_cost(void *ctx, kmm__frame_t *f)
{
    const costing_t *c = ctx;
    if (f->stamp == c->stamp)
        f->cost += c->cost;
}

/* Adds what an access costs to its frames: the bytes that all chunks of the launch use of a frame,
 * on average. A kernel waits for what it reads, and not for what it stores, so reads count twice.
 */
static void add_access_cost(const kmm__task_t *t, const kmm__access_t *a)
{
    enum { READ_COST = 2, STORE_COST = 1 };
    counted_t c = {0, 0};
    costing_t g = {t->device->memory->stamp, 0};
    kmm__frames_of(a->array, t->device, a->layout, &a->box, count_frame, &c);
    if (c.frames == 0)
        return;
    g.cost = (double)kmm__box_volume(&a->box) / (double)c.frames *
             ((a->mode & KMM_READ ? READ_COST : 0) + (a->mode & KMM_WRITE ? STORE_COST : 0));
    if (stays_whole(t, a, c.frames))
        g.cost *= t->work->chunk_count;
    kmm__frames_of(a->array, t->device, a->layout, &a->box, add_cost, &g);
}

static int compare_costs(const void *left, const void *right)
{
    const kmm__frame_t *a = *(kmm__frame_t *const *)left, *b = *(kmm__frame_t *const *)right;
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    if (a->array != b->array)
        return kmm__array_number(a->array) < kmm__array_number(b->array) ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

void kmm__exceeding_sort(const kmm__task_t *t, kmm__frame_t **frames, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        frames[k]->cost = 0;
    for (uint32_t k = 0; k < t->access_count; k++)
        if (!t->accesses[k].array->object.is_abstract)
            add_access_cost(t, &t->accesses[k]);
    if (count)
        qsort(frames, count, sizeof(*frames), compare_costs);
}

/* Bytes of frames that one of `parts` equal parts of t touches at most. */
static uint64_t part_bytes(const kmm__task_t *t, uint64_t parts)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        counted_t c = {0, 0};
        if (a->array->object.is_abstract)
            continue;
        kmm__frames_of(a->array, t->device, a->layout, &a->box, count_frame, &c);
        bool stays = stays_whole(t, a, c.frames);
        uint64_t least = (c.frames + parts - 1) / parts + 1; /* a part may begin inside a frame */
        bytes += (stays || least > c.here ? c.here : least) * a->array->frame_bytes;
    }
    return bytes;
}

/* Bytes that a task's frames can have on the device, without slabs, which stay. */
static uint64_t room_on(const kmm__device_t *d)
{
    uint64_t slabs = kmm__pack_used_bytes(d);
    return d->memory->limit > slabs ? d->memory->limit - slabs : 0;
}

/* Returns into how many parts t must be divided to fit; 0: more than it has blocks, or elements of
 * a function's range. */
static uint64_t parts_that_fit(const kmm__task_t *t, uint64_t needed)
{
    enum { MOST = 1 << 20 };
    uint64_t room = room_on(t->device), parts = room ? (needed + room - 1) / room : MOST, most = 1;
    for (int d = 0; d < KMM_MAX_SPLIT; d++)
        most *= t->part.count[d] ? t->part.count[d] : 1;
    most = most < MOST ? most : MOST;
    parts = parts < 2 ? 2 : parts; /* the whole does not fit */
    while (parts <= most && part_bytes(t, parts) > room)
        parts += parts / 16 + 1;
    return parts <= most ? parts : 0;
}

/* Writes to out what chunk size would fit. */
static void describe_remedy(const kmm__task_t *t, uint64_t needed, char *out, size_t size)
{
    uint64_t parts = parts_that_fit(t, needed);
    if (parts)
        snprintf(out, size, "a chunk of at most 1/%llu of its size would fit",
                 (unsigned long long)parts);
    else
        snprintf(out, size, "no chunk is small enough, because each uses so much of its arrays");
}

bool kmm__task_may_exceed(const kmm__task_t *t)
{
    return t->device->info.host_backed;
}

int kmm__task_too_large(const kmm__task_t *t, uint64_t needed)
{
    kmm__device_t *d = t->device;
    char remedy[128];
    if (d->info.whole)
        return kmm__error_set(KMM_E_MEMORY,
                              "needs %llu bytes on %s, of which %llu can be used; its driver "
                              "cannot map memory in parts, "
                              "so that each array a chunk uses is there whole",
                              (unsigned long long)needed, d->info.name,
                              (unsigned long long)room_on(d));
    if (d->memory->limit == 0)
        return kmm__error_set(KMM_E_MEMORY, "needs %llu bytes on %s, which has no memory left",
                              (unsigned long long)needed, d->info.name);
    describe_remedy(t, needed, remedy, sizeof(remedy));
    return kmm__error_set(
        KMM_E_MEMORY, "needs %llu bytes on %s at once, of which %llu can be used; %s",
        (unsigned long long)needed, d->info.name, (unsigned long long)room_on(d), remedy);
}

/* True if this kernel, function or task was not warned of before. False, too, once KMM__WARNED have
 * been remembered. */
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

bool kmm__exceeds_first(const kmm__device_t *d, const kmm__work_t *w)
{
    return !w->is_undivided && is_first(d->memory->exceeding, w);
}

/* Warns of a kernel that needs more memory than the device has, and so works on host memory. */
void kmm__warn_exceeding(const kmm__task_t *t, uint64_t needed)
{
    const kmm__work_t *work = t->work;
    kmm__device_t *d = t->device;
    char where[320], remedy[128] = "";
    if (!kmm__exceeds_first(d, work))
        return;
    if (work->item_count == 0) {
        kmm__log(KMM__LOG_WARNING,
                 "kernel %s needs %llu bytes on %s at once, of which %llu can be used: it works "
                 "on the rest in the host's memory, slowly; `#pragma kmm parallel` above its "
                 "launch splits it",
                 work->name, (unsigned long long)needed, d->info.name,
                 (unsigned long long)room_on(d));
        return;
    }
    if (!work->has_statements)
        describe_remedy(t, needed, remedy, sizeof(remedy));
    kmm__task_describe(t, where, sizeof(where));
    kmm__log(KMM__LOG_WARNING,
             "%s: needs %llu bytes on %s at once, of which %llu can be used: it works on the "
             "rest in the host's memory, slowly%s%s [exceeding]",
             where, (unsigned long long)needed, d->info.name, (unsigned long long)room_on(d),
             *remedy ? "; " : "", remedy);
}

void kmm__warn_amplified(const kmm__task_t *t, uint64_t needed)
{
    enum {
        MUCH = 4,
        PART = 16,
        EDGES = 2
    }; /* a small box touches as many frames as it has edges */
    kmm__device_t *d = t->device;
    uint64_t used = 0, brought = 0;
    char where[320];
    if (t->part.chunk || t->work->chunk_count < 2 || !t->work->kernel ||
        needed < d->memory->limit / PART || d->info.whole)
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
    kmm__log(KMM__LOG_WARNING,
             "%s: uses %llu bytes, but they lie in %llu bytes of frames, all of which it needs "
             "on %s; chunks of whole rows need less [amplification]",
             where, (unsigned long long)used, (unsigned long long)needed, d->info.name);
}
