/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of chunks that are checked on GPUs. */
#include "execute/exact_device.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <kmm/check.h>

#include "base/alloc.h"
#include "execute/exact.h"
#include "execute/shadow.h"

_Static_assert((int)KMM__MAY_READ == KMM_CHECK_MAY_READ &&
                   (int)KMM__MAY_WRITE == KMM_CHECK_MAY_WRITE &&
                   (int)KMM__STORED == KMM_CHECK_STORED,
               "marks are copied as they are");
_Static_assert((int)KMM__STORE_UNNAMED == KMM_CHECK_STORE_UNNAMED &&
                   (int)KMM__STORE_TO_READ == KMM_CHECK_STORE_TO_READ &&
                   (int)KMM__LOAD_UNNAMED == KMM_CHECK_LOAD_UNNAMED &&
                   (int)KMM__LOAD_OLD == KMM_CHECK_LOAD_OLD &&
                   (int)KMM__WRONG_KINDS == KMM_CHECK_WRONGS,
               "wrong accesses are numbered alike");
_Static_assert(sizeof(kmm_checked_blocks_t) == 32 && offsetof(kmm_checked_blocks_t, table) == 24,
               "kmmcc reads the address there (kmmcc/ptx/check.c)");
_Static_assert((int)KMM__LINE == KMM_CHECK_LINE, "lines are copied as they are");

/* The table and what belongs to it, in one piece of the device's memory and of the host's. */
struct kmm__exact_device {
    kmm__addr_t window;
    kmm__frame_handle_t frame;
    bool is_mapped;
    size_t bytes;                 /* of the piece */
    uint64_t mapped_bytes;        /* rounded up to the device's granularity */
    char *image;                  /* what is copied to the device, and then from it */
    size_t spans, places, frames; /* offsets in the piece */
};

bool kmm__exact_takes_table(const kmm_kernel_t *kernel)
{
    return kernel && kernel->is_clone && kernel->param_count > 0 &&
           kernel->param_bytes[0] == sizeof(kmm_checked_blocks_t);
}

uint64_t kmm__exact_table(const kmm__check_t *c)
{
    return c && c->on_device ? c->on_device->window : 0;
}

/* ---- Memory ---- */

/* Memory for the check comes on top of the arrays', so it may have to be the host's. Where memory
 * cannot be mapped, a frame's handle is its address. */
static int frame_make(const kmm__device_t *d, uint64_t bytes, kmm__frame_handle_t *out)
{
    int error = d->backend->frame_create(d->gpu, bytes, out);
    if (error == KMM_E_MEMORY && d->info.host_backed)
        error = d->backend->frame_create_host_backed(d->gpu, bytes, out);
    return error;
}

static int piece_make(const kmm__device_t *d, kmm__exact_device_t *e)
{
    uint64_t granule = d->info.granularity ? d->info.granularity : 1;
    e->mapped_bytes = (e->bytes + granule - 1) / granule * granule;
    if (d->info.whole) {
        int failed = frame_make(d, e->mapped_bytes, &e->frame);
        e->window = e->frame;
        return failed;
    }
    int error = d->backend->window_reserve(d->gpu, e->mapped_bytes, &e->window);
    error = error ? error : frame_make(d, e->mapped_bytes, &e->frame);
    error = error ? error : d->backend->frame_map(d->gpu, e->window, e->frame, e->mapped_bytes);
    e->is_mapped = !error;
    return error;
}

static void piece_free(const kmm__device_t *d, kmm__exact_device_t *e)
{
    if (e->is_mapped &&
        kmm__stays_mapped(d, d->backend->frame_unmap(d->gpu, e->window, e->mapped_bytes)))
        return;
    if (e->frame)
        d->backend->frame_destroy(d->gpu, e->frame, e->mapped_bytes);
    if (e->window && !d->info.whole)
        d->backend->window_release(d->gpu, e->window, e->mapped_bytes);
}

/* Marks for each frame of the copy. */
static int marks_make(const kmm__device_t *d, kmm__shadow_t *s)
{
    uint64_t frame = s->array->frame_bytes;
    s->marks = kmm__alloc(s->array->frame_count * sizeof(*s->marks));
    if (d->info.whole) {
        int failed = frame_make(d, frame, &s->marks[0]);
        s->marks_window = s->marks[0];
        return failed;
    }
    int error = d->backend->window_reserve(d->gpu, s->array->frame_count * frame, &s->marks_window);
    for (uint32_t k = 0; k < s->array->frame_count && !error; k++) {
        if (s->frames[k])
            error = frame_make(d, frame, &s->marks[k]);
        if (s->frames[k] && !error)
            error = d->backend->frame_map(d->gpu, s->marks_window + k * frame, s->marks[k], frame);
        s->marks_mapped = k + !error;
    }
    return error;
}

static void marks_free(const kmm__device_t *d, kmm__shadow_t *s)
{
    uint64_t frame = s->array->frame_bytes;
    bool is_stuck = false; /* a frame stays mapped, and so does its window */
    for (uint32_t k = 0; s->marks && k < s->array->frame_count; k++) {
        kmm__addr_t at = s->marks_window + k * frame;
        if (!s->marks[k])
            continue;
        if (k < s->marks_mapped && kmm__stays_mapped(d, d->backend->frame_unmap(d->gpu, at, frame)))
            is_stuck = true;
        else
            d->backend->frame_destroy(d->gpu, s->marks[k], frame);
    }
    if (s->marks_window && !d->info.whole && !is_stuck)
        d->backend->window_release(d->gpu, s->marks_window, s->array->frame_count * frame);
    free(s->marks);
}

/* ---- Copies ---- */

static int copy(kmm__check_t *c, kmm__addr_t device, void *host, size_t bytes, bool back)
{
    const kmm__device_t *d = c->task->device;
    uint64_t mine = (uint64_t)(uintptr_t)host;
    kmm__copy_t copy = {.dst_gpu = back ? NULL : d->gpu,
                        .src_gpu = back ? d->gpu : NULL,
                        .dst = back ? mine : device,
                        .src = back ? device : mine,
                        .width = (int64_t)bytes,
                        .rows = 1};
    return d->backend->copy(c->stream, &copy);
}

static int copy_marks(kmm__check_t *c, kmm__shadow_t *s, bool back)
{
    uint64_t frame = s->array->frame_bytes;
    int error = 0;
    for (uint32_t k = 0; k < s->array->frame_count && !error; k++) {
        uint64_t at = k * frame, width = at + frame > s->bytes ? s->bytes - at : frame;
        if (s->marks[k])
            error = copy(c, s->marks_window + at, s->may + at, width, back);
    }
    return error;
}

/* ---- The table ---- */

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static void lay_out(const kmm__check_t *c, kmm__exact_device_t *e)
{
    e->spans = aligned(sizeof(kmm_check_table_t));
    e->places = e->spans + aligned(c->count * sizeof(kmm_check_span_t));
    e->frames = e->places + aligned(c->place_count * sizeof(kmm_check_place_t));
    e->bytes = e->frames;
    for (uint32_t k = 0; k < c->count; k++)
        e->bytes += c->shadows[k].array->frame_count;
}

static void empty(kmm_check_wrong_t *w)
{
    *w = (kmm_check_wrong_t){.least = INT64_MAX, .most = INT64_MIN};
}

/* The logarithm of a power of two; of another number 0. */
static uint32_t shift_of(uint64_t bytes)
{
    return bytes & (bytes - 1) ? 0 : (uint32_t)__builtin_ctzll(bytes);
}

/* `frames` is the piece's part for the span, at `address`. */
static void fill_span(const kmm__shadow_t *s, kmm_check_span_t *span, unsigned char *frames,
                      uint64_t address)
{
    bool is_whole = true;
    for (uint32_t k = 0; k < s->array->frame_count; k++) {
        frames[k] = s->marks[k] != 0;
        is_whole &= frames[k];
    }
    *span = (kmm_check_span_t){.begin = s->window,
                               .bytes = s->bytes,
                               .slack = s->slack,
                               .map = s->marks_window,
                               .frames = is_whole ? 0 : address,
                               .frame_bytes = s->array->frame_bytes,
                               .frame_shift = shift_of(s->array->frame_bytes)};
    for (int wrong = 0; wrong < KMM_CHECK_WRONGS; wrong++)
        empty(&span->wrong[wrong]);
}

static void fill(const kmm__check_t *c, kmm__exact_device_t *e)
{
    kmm_check_table_t *t = (kmm_check_table_t *)e->image;
    kmm_check_span_t *spans = (kmm_check_span_t *)(e->image + e->spans);
    kmm_check_place_t *places = (kmm_check_place_t *)(e->image + e->places);
    size_t frames = e->frames;
    *t = (kmm_check_table_t){.spans = e->window + e->spans,
                             .places = e->window + e->places,
                             .span_count = c->count,
                             .place_count = c->place_count};
    empty(&t->other);
    for (uint32_t k = 0; k < c->place_count; k++)
        places[k] = (kmm_check_place_t){c->places[k].begin, c->places[k].end};
    for (uint32_t k = 0; k < c->count; k++) {
        fill_span(&c->shadows[k], &spans[k], (unsigned char *)e->image + frames,
                  e->window + frames);
        frames += c->shadows[k].array->frame_count;
    }
}

int kmm__exact_device_begin(kmm__check_t *c)
{
    const kmm__device_t *d = c->task->device;
    kmm__exact_device_t *e = c->on_device = kmm__alloc(sizeof(*e));
    int error = 0;
    for (uint32_t k = 0; k < c->count && !error; k++)
        error = marks_make(d, &c->shadows[k]);
    lay_out(c, e);
    error = error ? error : piece_make(d, e);
    if (error)
        return error;
    e->image = kmm__alloc(e->bytes);
    fill(c, e);
    for (uint32_t k = 0; k < c->count && !error; k++)
        error = copy_marks(c, &c->shadows[k], false);
    return error ? error : copy(c, e->window, e->image, e->bytes, false);
}

/* ---- After the chunk ---- */

int kmm__exact_device_fetch(kmm__check_t *c)
{
    kmm__exact_device_t *e = c->on_device;
    int error = copy(c, e->window, e->image, e->bytes, true);
    for (uint32_t k = 0; k < c->count && !error; k++)
        error = copy_marks(c, &c->shadows[k], true);
    return error;
}

static void take(const kmm_check_wrong_t *w, kmm__violation_t *v)
{
    *v = (kmm__violation_t){
        .count = w->count, .first = w->first, .least = w->least, .most = w->most};
    memcpy(v->line, w->line, sizeof(v->line));
    v->line[sizeof(v->line) - 1] = 0;
}

void kmm__exact_device_end(kmm__check_t *c)
{
    const kmm__exact_device_t *e = c->on_device;
    const kmm_check_table_t *t = (const kmm_check_table_t *)e->image;
    const kmm_check_span_t *spans = (const kmm_check_span_t *)(e->image + e->spans);
    atomic_store(&c->is_seen, true); /* all of the kernel's code makes calls */
    for (uint32_t k = 0; k < c->count; k++)
        for (int wrong = 0; wrong < KMM_CHECK_WRONGS; wrong++)
            if (spans[k].wrong[wrong].count)
                take(&spans[k].wrong[wrong], &c->shadows[k].wrong[wrong]);
    if (t->elsewhere && t->elsewhere <= c->place_count) {
        c->elsewhere = c->places[t->elsewhere - 1].array;
        take(&t->other, &c->other);
    }
}

void kmm__exact_device_close(kmm__check_t *c)
{
    const kmm__device_t *d = c->task->device;
    if (!c->on_device)
        return;
    for (uint32_t k = 0; k < c->count; k++)
        marks_free(d, &c->shadows[k]);
    piece_free(d, c->on_device);
    free(c->on_device->image);
    free(c->on_device);
}
