/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: their states, the lists they are on, and who keeps them there. */
#include "memory/residency/frame.h"

#include "base/alloc.h"

void kmm__frame_list_push(kmm__frame_t **list, kmm__frame_t *f)
{
    f->previous = NULL;
    f->next = *list;
    if (f->next)
        f->next->previous = f;
    *list = f;
}

void kmm__frame_list_remove(kmm__frame_t **list, kmm__frame_t *f)
{
    *(f->previous ? &f->previous->next : list) = f->next;
    if (f->next)
        f->next->previous = f->previous;
    f->previous = f->next = NULL;
}

/* Somebody uses what was mapped ahead, or it goes. */
void kmm__frame_premap_end(kmm__frame_t *f)
{
    if (f->premapped)
        f->device->memory->premapped_bytes -= f->array->frame_bytes;
    f->premapped = false;
}

/* How many are mapped is counted, since mostly all are. */
void kmm__frame_set(kmm__frame_t *f, kmm__frame_state_t state)
{
    kmm__residence_t *r = &f->array->residence[f->device->index];
    r->mapped += (state == KMM__FRAME_MAPPED) - (f->state == KMM__FRAME_MAPPED);
    f->state = state;
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
        kmm__frame_list_remove(&d->memory->idle, f);
        kmm__frame_list_push(&d->memory->busy, f);
        d->memory->pinned_bytes += kmm__frame_bytes(f);
        kmm__frame_premap_end(f);
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
        d->memory->pinned_bytes -= kmm__frame_bytes(f);
        kmm__frame_list_remove(&d->memory->busy, f);
        kmm__frame_list_push(&d->memory->idle, f);
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
