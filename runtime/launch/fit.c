/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the chunks of a launch fit on its devices. The estimate is a lower bound of a
 * chunk's need: all small arrays and partial results of reductions together count as one slab. */
#include "launch/fit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "launch/plan.h"
#include "memory/array.h"
#include "memory/state.h"

/* Counts the frames that chunks need. The frames of all arrays of a launch are numbered from 0 on.
 */
typedef struct frames {
    uint32_t first[KMM__MAX_ITEMS]; /* number of the first frame of each item's array */
    uint32_t *
        seen; /* for each frame: the last chunk that counted it, as its value of `chunk`; 0: none */
    uint32_t chunk;
    uint64_t slab;  /* bytes of the slab of small arrays, added to each chunk */
    uint64_t bytes; /* bytes counted for that chunk */
} frames_t;

typedef struct mark {
    frames_t *frames;
    const kmm__array_t *array;
    uint32_t first;
} mark_t;

/* Returns the device with the least memory, of those that cannot use host memory beyond their own:
 * any chunk may be placed on it. NULL: there is none. */
static const kmm__device_t *smallest(const kmm__submission_t *s)
{
    const kmm__device_t *least = NULL;
    for (uint32_t k = 0; k < s->placement.count; k++) {
        const kmm__device_t *d = s->placement.device[k];
        bool is_bounded = d->space != KMM__HOST && (!d->info.host_backed || s->rt->memory->spill);
        if (is_bounded && (!least || d->memory->most < least->memory->most))
            least = d;
    }
    return least;
}

static bool may_be_packed(const kmm__device_t *d, const kmm__array_t *a)
{
    return a->object.is_abstract || (!d->info.whole && a->bytes < d->info.granularity);
}

/* Returns the array of item k; NULL: its frames are not counted. */
static const kmm__array_t *array_of(const kmm__submission_t *s, const kmm__device_t *d, uint32_t k)
{
    const kmm__array_t *a = s->l->items[k].mode == KMM_REDUCE ? NULL : s->l->items[k].array;
    return a && !may_be_packed(d, a) ? a : NULL;
}

static int mark_rows(void *arg, const kmm__rows_t *rows)
{
    const mark_t *m = arg;
    int64_t size = (int64_t)m->array->frame_bytes;
    for (int64_t r = 0; r < rows->count; r++) {
        int64_t begin = rows->offset + r * rows->pitch, end = begin + rows->width;
        for (int64_t k = begin / size; k * size < end; k++) {
            uint32_t *seen = &m->frames->seen[m->first + (uint32_t)k];
            m->frames->bytes += *seen == m->frames->chunk ? 0 : (uint64_t)size;
            *seen = m->frames->chunk;
        }
    }
    return 0;
}

static uint64_t chunk_bytes(const kmm__submission_t *s, const kmm__device_t *d,
                            const kmm__partition_t *p, uint32_t chunk, frames_t *f)
{
    kmm__chunk_box_t box;
    kmm__partition_chunk(p, s->l, chunk, &box);
    f->chunk++;
    f->bytes = f->slab;
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        kmm__access_t a;
        kmm__layout_t shaped;
        mark_t m = {.frames = f, .array = array_of(s, d, k), .first = f->first[k]};
        if (m.array && kmm__plan(&s->l->items[k], s->l->axis_count, &box, &a, &shaped) > 0)
            kmm__layout_rows(a.layout, &a.box, mark_rows, &m);
    }
    return f->bytes;
}

/* Returns the first chunk that needs more than `room` bytes; p->count: none does. */
static uint32_t first_too_large(const kmm__submission_t *s, const kmm__device_t *d,
                                const kmm__partition_t *p, uint64_t room, frames_t *f)
{
    uint32_t k = 0;
    while (k < p->count && chunk_bytes(s, d, p, k, f) <= room)
        k++;
    return k;
}

/* Makes *out from p by dividing chunks into `parts` along the outermost dimension in which they are
 * long enough. False: there is no such dimension. */
static bool cut(const kmm__partition_t *p, int64_t parts, kmm__partition_t *out)
{
    for (uint32_t d = KMM_MAX_SPLIT; d-- > 0;) {
        if (p->chunk[d] < parts)
            continue;
        *out = *p;
        out->chunk[d] = p->chunk[d] / parts;
        out->chunks[d] = (p->size[d] + out->chunk[d] - 1) / out->chunk[d];
        out->count = (uint32_t)(p->count / p->chunks[d] * out->chunks[d]);
        return true;
    }
    return false;
}

static int refuse(const kmm__submission_t *s, const kmm__device_t *d, uint32_t chunk, frames_t *f)
{
    enum { MOST_PARTS = 1 << 10 };
    char text[360], which[64] = "", remedy[128] = "";
    uint64_t room = d->memory->most, needed = chunk_bytes(s, d, &s->part, chunk, f);
    uint32_t first, last;
    kmm__partition_t q;
    kmm__partition_numbers(&s->part, chunk, &first, &last);
    if (s->work->chunk_count > 1)
        snprintf(which, sizeof(which), "chunk %u of %u ", first, s->work->chunk_count);
    int64_t parts = 2;
    while (parts <= MOST_PARTS && cut(&s->part, parts, &q) &&
           first_too_large(s, d, &q, room, f) < q.count)
        parts *= 2;
    if (d->info.whole)
        snprintf(remedy, sizeof(remedy),
                 "its driver cannot map memory in parts, so that each array a chunk uses is there "
                 "whole");
    else if (parts <= MOST_PARTS && cut(&s->part, parts, &q))
        snprintf(remedy, sizeof(remedy), "a chunk of at most 1/%lld of its size would fit",
                 (long long)parts);
    else
        snprintf(remedy, sizeof(remedy),
                 "no chunk is small enough, because each uses so much of its arrays");
    snprintf(text, sizeof(text),
             "%sneeds %llu bytes on %s at once, of which %llu can be used; %s; nothing of the "
             "launch has run",
             which, (unsigned long long)needed, d->info.name, (unsigned long long)room, remedy);
    return kmm__submission_refuse(s, KMM_E_MEMORY, text);
}

/* The check for a launch without a pragma, which uses every array that it has a pointer to as a
 * whole. */
static int plain_fits(const kmm__submission_t *s, const kmm__device_t *d)
{
    const kmm__work_t *w = s->work;
    char text[300];
    uint64_t needed = 0;
    for (uint32_t k = 0; k < w->pointer_count; k++) {
        const kmm__array_t *a = w->pointers[k].array;
        uint32_t same = 0;
        while (same < k && w->pointers[same].array != a)
            same++;
        needed += same < k || may_be_packed(d, a) ? 0 : a->frame_count * a->frame_bytes;
    }
    if (needed <= d->memory->most)
        return 0;
    snprintf(text, sizeof(text),
             "needs %llu bytes on %s at once, of which %llu can be used; `#pragma kmm parallel` "
             "above its launch splits it; nothing of the launch has run",
             (unsigned long long)needed, d->info.name, (unsigned long long)d->memory->most);
    return kmm__submission_refuse(s, KMM_E_MEMORY, text);
}

int kmm__submission_fits(const kmm__submission_t *s)
{
    const kmm__device_t *d = smallest(s);
    if (d && !s->annotated)
        return plain_fits(s, d);
    frames_t f = {.seen = NULL};
    uint32_t count = 0;
    uint64_t all = 0;
    for (uint32_t k = 0; d && k < s->l->item_count; k++) {
        const kmm__array_t *a = array_of(s, d, k);
        uint32_t same = 0;
        if (!a && !d->info.whole && s->l->items[k].array)
            f.slab = d->info.granularity;
        while (same < k && array_of(s, d, same) != a)
            same++;
        f.first[k] = same < k ? f.first[same] : count;
        if (!a || same < k)
            continue;
        count += a->frame_count;
        all += a->frame_count * a->frame_bytes;
    }
    if (!d || all + f.slab <= d->memory->most)
        return 0;
    f.seen = kmm__alloc(count * sizeof(*f.seen));
    for (uint32_t k = 0; k < count; k++)
        f.seen[k] = 0;
    uint32_t large = first_too_large(s, d, &s->part, d->memory->most, &f);
    int error = large < s->part.count ? refuse(s, d, large, &f) : 0;
    free(f.seen);
    return error;
}
