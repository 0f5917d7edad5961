/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that all tasks of a launch fit where they may run: chunks on devices that have no other
 * memory, and what works on the host's memory where that is limited.
 *
 * What a task needs is counted in pieces, which are frames of a device or pages of the host. The
 * count is never too low. Slabs in which small arrays lie are taken to stay, and a small array that
 * has no place yet is taken to get a frame of its own.
 */
#include "launch/fit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "launch/plan.h"
#include "launch/reduce.h"
#include "memory/array.h"
#include "memory/disk/page.h"
#include "memory/disk/pin.h"
#include "memory/residency/exceed.h"
#include "memory/residency/pack.h"
#include "memory/residency/physical.h"
#include "task/inside.h"

/* An array that the launch uses. Its pieces have the numbers from `first` on. */
typedef struct used {
    const kmm__array_t *array;
    uint32_t first;
} used_t;

/* The memory that tasks of a launch need on one device or on the host. */
typedef struct need {
    kmm__submission_t *submission;
    kmm__device_t *device; /* NULL: the host's memory */
    bool crosses;          /* the host's memory, for what devices of two drivers exchange: reads */
    uint64_t room;         /* bytes that a task may have */
    used_t *arrays;
    uint32_t count, capacity, pieces;
    uint64_t all;   /* bytes of all pieces */
    uint32_t *seen; /* of each piece: the task that counted it last, from 1 on */
    uint32_t task;
    uint64_t bytes; /* counted for that task */
    uint64_t most;  /* of the tasks so far */
} need_t;

/* ---- Arrays ---- */

static uint64_t piece_bytes(const need_t *n, const kmm__array_t *a)
{
    return n->device ? a->frame_bytes : kmm__spill_page_bytes(n->submission->rt);
}

/* Whether the array takes room there: neither what lies in a slab nor the program's own memory
 * does. */
static bool takes_room(const need_t *n, const kmm__array_t *a)
{
    if (!a || a->object.is_abstract)
        return false;
    return n->device ? !a->residence[n->device->index].is_packed : !a->is_mapped;
}

static void add_array(need_t *n, const kmm__array_t *a)
{
    uint32_t k = 0;
    if (!takes_room(n, a))
        return;
    while (k < n->count && n->arrays[k].array != a)
        k++;
    if (k < n->count)
        return;
    n->arrays = kmm__grow(n->arrays, n->count, &n->capacity, sizeof(*n->arrays));
    n->arrays[n->count++] = (used_t){a, n->pieces};
    uint32_t pieces = (uint32_t)((a->bytes + piece_bytes(n, a) - 1) / piece_bytes(n, a));
    n->pieces += pieces;
    n->all += pieces * piece_bytes(n, a);
}

/* All arrays that tasks of the launch may use. */
static void add_arrays(need_t *n)
{
    const kmm__submission_t *s = n->submission;
    const kmm__work_t *w = s->work;
    for (uint32_t k = 0; k < s->l->item_count; k++)
        add_array(n, s->l->items[k].array);
    for (uint32_t k = 0; k < w->partials_count; k++)
        add_array(n, w->partials[k].array);
    for (uint32_t k = 0; !s->annotated && k < w->pointer_count; k++)
        add_array(n, w->pointers[k].array);
}

/* ---- Tasks ---- */

typedef struct mark {
    need_t *need;
    const used_t *used;
} mark_t;

static int mark_rows(void *arg, const kmm__rows_t *rows)
{
    const mark_t *m = arg;
    need_t *n = m->need;
    int64_t size = (int64_t)piece_bytes(n, m->used->array);
    for (int64_t r = 0; r < rows->count; r++) {
        int64_t begin = rows->offset + r * rows->pitch, end = begin + rows->width;
        for (int64_t k = begin / size; k * size < end; k++) {
            uint32_t *seen = &n->seen[m->used->first + (uint32_t)k];
            n->bytes += *seen == n->task ? 0 : (uint64_t)size;
            *seen = n->task;
        }
    }
    return 0;
}

static void count_access(need_t *n, const kmm__access_t *a)
{
    uint32_t k = 0;
    while (k < n->count && n->arrays[k].array != a->array)
        k++;
    mark_t m = {n, &n->arrays[k]};
    if (k < n->count && !(n->crosses && a->mode == KMM_WRITE))
        kmm__layout_rows(a->layout, &a->box, mark_rows, &m);
}

static void count_begin(need_t *n)
{
    n->task++;
    n->bytes = 0;
}

static void count_accesses(void *ctx, const kmm__access_t *accesses, uint32_t count)
{
    need_t *n = ctx;
    count_begin(n);
    for (uint32_t k = 0; k < count; k++)
        count_access(n, &accesses[k]);
    n->most = n->bytes > n->most ? n->bytes : n->most;
}

/* Returns the bytes that chunk k of the partition needs. */
static uint64_t chunk_bytes(need_t *n, const kmm__partition_t *p, uint32_t k)
{
    const kmm__submission_t *s = n->submission;
    const kmm__work_t *w = s->work;
    kmm__chunk_box_t box;
    uint32_t number, last;
    kmm__partition_chunk(p, s->l, k, &box);
    kmm__partition_numbers(p, k, &number, &last);
    count_begin(n);
    for (uint32_t i = 0; i < s->l->item_count; i++) {
        const kmm__item_t *item = &s->l->items[i];
        kmm__access_t a;
        kmm__layout_t shaped;
        if (item->array && item->mode != KMM_REDUCE &&
            kmm__plan(item, s->l->axis_count, &box, &a, &shaped) > 0)
            count_access(n, &a);
    }
    for (uint32_t i = 0; i < w->reduction_count; i++) {
        kmm__access_t a = kmm__reduce_access(w, &w->reductions[i],
                                             number < w->chunk_count ? number : w->chunk_count - 1);
        count_access(n, &a);
    }
    for (uint32_t i = 0; !s->annotated && i < w->pointer_count; i++) {
        kmm__array_t *array = w->pointers[i].array;
        kmm__access_t a = kmm__access_bytes(array, KMM_UPDATE, 0, (int64_t)array->bytes);
        count_access(n, &a);
    }
    n->most = n->bytes > n->most ? n->bytes : n->most;
    return n->bytes;
}

/* The first chunk that does not fit, or the number of chunks. */
static uint32_t first_too_large(need_t *n, const kmm__partition_t *p)
{
    uint32_t k = 0;
    while (k < p->count && chunk_bytes(n, p, k) <= n->room)
        k++;
    return k;
}

/* ---- Dividing ---- */

enum { MOST_PARTS = 1 << 10 };

/* p with chunks in so many parts along dimension d; false: they are too short. `alike`: only a
 * dimension that the directive divides, so that parts are to each other as its chunks are. */
static bool cut_along(const need_t *n, const kmm__partition_t *p, uint32_t d, int64_t parts,
                      bool alike, kmm__partition_t *out)
{
    bool divides = n->submission->l->has_chunk[d] && p->chunks[d] > 1;
    if (p->chunk[d] < parts || (alike && !divides) ||
        p->count / p->chunks[d] > UINT32_MAX / 2 / (p->chunks[d] + 1) / parts)
        return false;
    kmm__partition_t q = *p;
    q.chunk[d] = p->chunk[d] / parts;
    q.chunks[d] = (p->size[d] + q.chunk[d] - 1) / q.chunk[d];
    q.count = (uint32_t)(p->count / p->chunks[d] * q.chunks[d]);
    *out = q;
    return true;
}

/* The same along the outermost dimension that allows it; false: none does. */
static bool cut(const need_t *n, int64_t parts, bool alike, kmm__partition_t *out)
{
    for (uint32_t d = KMM_MAX_SPLIT; d-- > 0;)
        if (cut_along(n, &n->submission->part, d, parts, alike, out))
            return true;
    return false;
}

/* The least power of two of parts that fit, along one dimension or else along all in turn; 0: none
 * do. */
static int64_t parts_that_fit(need_t *n, bool alike, kmm__partition_t *out)
{
    int64_t parts = 1;
    for (int64_t k = 2; k <= MOST_PARTS && cut(n, k, alike, out); k *= 2)
        if (first_too_large(n, out) == out->count)
            return k;
    *out = n->submission->part;
    for (uint32_t d = 0, failed = 0; failed < KMM_MAX_SPLIT && parts < MOST_PARTS;
         d = (d + 1) % KMM_MAX_SPLIT) {
        bool is_cut = cut_along(n, out, d, 2, alike, out);
        failed = is_cut ? 0 : failed + 1;
        parts *= is_cut ? 2 : 1;
        if (is_cut && first_too_large(n, out) == out->count)
            return parts;
    }
    return 0;
}

static void warn_divided(const need_t *n, int64_t parts, uint64_t bytes)
{
    const kmm__submission_t *s = n->submission;
    char where[320];
    if (!kmm__exceeds_first(n->device ? n->device : s->rt->cpu, s->work))
        return;
    kmm__work_describe(s->work, 0, s->work->chunk_count - 1, where, sizeof(where));
    kmm__log(KMM__LOG_WARNING,
             "%s: one needs %llu bytes %s%s at once, of which %llu can be used: they run in %lld "
             "parts each [divided]",
             where, (unsigned long long)bytes, n->device ? "on " : "of host memory",
             n->device ? n->device->info.name : "", (unsigned long long)n->room, (long long)parts);
}

/* Divides chunks of a kernel that are too large. A kernel knows blocks and no chunks, so its result
 * is the same. Not those of a reduction, whose result may depend on its chunks, nor those of a
 * plain function, which may. */
static bool divide(need_t *n, uint32_t chunk)
{
    kmm__submission_t *s = n->submission;
    kmm__partition_t q;
    if (!s->annotated || !s->work->kernel || s->reductions)
        return false;
    uint64_t bytes = chunk_bytes(n, &s->part, chunk);
    int64_t parts = parts_that_fit(n, true, &q);
    if (!parts)
        return false;
    warn_divided(n, parts, bytes);
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++) {
        q.asked[d] = q.chunks[d];
        q.joined[d] = 1;
    }
    s->part = q;
    s->work->chunk_count = s->placement.chunks = q.count;
    return true;
}

/* ---- Refusing ---- */

static void describe_remedy(need_t *n, char *out, size_t size)
{
    const kmm__submission_t *s = n->submission;
    kmm__partition_t q;
    int64_t parts;
    if (s->work->has_statements) {
        snprintf(out, size, "a task is not divided: name less in its clauses");
        return;
    }
    if (!s->annotated) {
        snprintf(out, size, "`#pragma kmm parallel` above its launch splits it");
        return;
    }
    parts = parts_that_fit(n, false, &q);
    if (n->device && n->device->info.whole)
        snprintf(out, size,
                 "its driver cannot map memory in parts, so that each array a chunk uses is there "
                 "whole");
    else if (parts)
        snprintf(out, size, "a chunk of at most 1/%lld of its size would fit", (long long)parts);
    else
        snprintf(out, size, "no chunk is small enough, because each uses so much of its arrays");
}

static int refuse(const need_t *n, const char *which, uint64_t bytes, const char *remedy)
{
    const char *what = n->submission->work->has_statements ? "task" : "launch";
    char text[360];
    if (n->device)
        snprintf(text, sizeof(text),
                 "%sneeds %llu bytes on %s at once, of which %llu can be used; %s; nothing of "
                 "the %s has run",
                 which, (unsigned long long)bytes, n->device->info.name,
                 (unsigned long long)n->room, remedy, what);
    else
        snprintf(text, sizeof(text),
                 "%sneeds %llu bytes of host memory at once, of which KMM_HOST_MEM leaves %llu; "
                 "%s; nothing of the %s has run",
                 which, (unsigned long long)bytes, (unsigned long long)n->room, remedy, what);
    return kmm__submission_refuse(n->submission, KMM_E_MEMORY, text);
}

static int refuse_chunk(need_t *n, uint32_t chunk)
{
    const kmm__submission_t *s = n->submission;
    char which[64] = "", remedy[128];
    uint64_t bytes = chunk_bytes(n, &s->part, chunk);
    uint32_t first, last;
    kmm__partition_numbers(&s->part, chunk, &first, &last);
    if (s->work->chunk_count > 1)
        snprintf(which, sizeof(which), "chunk %u of %u ", first, s->work->chunk_count);
    describe_remedy(n, remedy, sizeof(remedy));
    return refuse(n, which, bytes, remedy);
}

/* ---- Places ---- */

/* All chunks, in the room that there is; smaller ones where that can be. n->most is right then. */
static int chunks_fit(need_t *n)
{
    uint32_t large = first_too_large(n, &n->submission->part);
    if (large == n->submission->part.count)
        return 0;
    if (!divide(n, large))
        return refuse_chunk(n, large);
    n->most = 0;
    first_too_large(n, &n->submission->part); /* counts them */
    return 0;
}

/* The driver may have less than it said, and slabs are made of what tasks leave. */
static int fit_on_device(need_t *n, uint64_t slabs)
{
    struct kmm__device_memory *m = n->device->memory;
    int error = chunks_fit(n);
    if (error)
        return error;
    uint64_t needed = n->most + slabs, there = kmm__memory_prove(n->device, needed);
    if (there < needed) {
        n->room = there > slabs ? there - slabs : 0;
        error = chunks_fit(n);
    }
    if (!error && m->promised < n->most)
        m->promised = n->most;
    return error;
}

/* The tasks that begin and end its reductions work on the host. */
static int reductions_fit(need_t *n)
{
    n->most = 0;
    kmm__reduce_accesses(n->submission->work, count_accesses, n);
    if (n->most <= n->room)
        return 0;
    return refuse(n, "a reduction ", n->most,
                  "each of its chunks has a private copy of the target: larger chunks need fewer");
}

static void need_count(need_t *n)
{
    n->seen = kmm__alloc((n->pieces + 1) * sizeof(*n->seen));
    for (uint32_t k = 0; k < n->pieces; k++)
        n->seen[k] = 0;
}

static uint64_t room_beside(const kmm__device_t *d, uint64_t slabs)
{
    return d->memory->most > slabs ? d->memory->most - slabs : 0;
}

/* Waits for the end of arrays that the program has freed, where a chunk has room only if their
 * slabs are released. Unlocks meanwhile. */
static void await_freed(need_t *n, uint64_t *slabs)
{
    kmm_runtime_t *rt = n->submission->rt;
    const kmm__partition_t *part = &n->submission->part;
    if (*slabs == 0 || kmm__is_inside() || first_too_large(n, part) == part->count)
        return;
    while (rt->memory->forgotten)
        kmm__cond_wait(&rt->progress, &rt->lock);
    *slabs = kmm__pack_used_bytes(n->device);
    n->room = room_beside(n->device, *slabs);
}

/* Devices that can use the host's memory for the rest need no room of their own, unless that is
 * limited. */
static int device_fits(kmm__submission_t *s, kmm__device_t *d)
{
    if (d->info.host_backed && !s->rt->memory->spill)
        return 0;
    uint64_t slabs = kmm__pack_used_bytes(d), most = d->memory->most;
    need_t n = {.submission = s, .device = d, .room = room_beside(d, slabs)};
    int error = 0;
    add_arrays(&n);
    if (n.all > most - most / KMM__SLABS_PART || n.all + slabs > d->memory->proved) {
        s->is_tight = true;
        need_count(&n);
        await_freed(&n, &slabs);
        n.most = 0;
        error = fit_on_device(&n, slabs);
    }
    free(n.seen);
    free(n.arrays);
    return error;
}

/* What chunks on devices read may be on devices of another driver, all of it, and comes through the
 * host's memory. */
static int host_fits(kmm__submission_t *s, bool has_host, bool has_gpus)
{
    bool crosses = has_gpus && kmm__spill_may_wait(s->rt);
    need_t n = {.submission = s, .crosses = crosses && !has_host, .room = kmm__spill_room(s->rt)};
    int error = 0;
    if (!s->rt->memory->spill || (!has_host && !crosses && s->work->partials_count == 0))
        return 0;
    add_arrays(&n);
    for (uint32_t k = 0; k < s->work->partials_count; k++)
        add_array(&n, s->work->partials[k].target);
    if (n.all > n.room) {
        s->is_tight = true;
        need_count(&n);
        error = has_host || crosses ? chunks_fit(&n) : 0;
        n.crosses = false;
        error = error ? error : reductions_fit(&n);
    }
    free(n.seen);
    free(n.arrays);
    return error;
}

int kmm__submission_fits(kmm__submission_t *s)
{
    bool has_host = false, has_gpus = false;
    int error = 0;
    for (uint32_t k = 0; k < s->placement.count && !error; k++) {
        kmm__device_t *d = s->placement.device[k];
        bool is_host = d->space == KMM__HOST;
        has_host |= is_host;
        has_gpus |= !is_host;
        error = is_host ? 0 : device_fits(s, d);
    }
    return error ? error : host_fits(s, has_host, has_gpus);
}
