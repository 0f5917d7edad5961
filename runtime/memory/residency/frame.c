/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: their lists, states and pins. */
#include "memory/residency/frame.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/valid.h"
#include "memory/residency/pack.h"

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

/* ---- Validity ---- */

static bool links_are_valid(const kmm__frame_t *f, const kmm__frame_t *first)
{
    return (f->previous ? f->previous->next == f : first == f) &&
           (!f->next || f->next->previous == f);
}

bool kmm__frame_is_valid(const kmm__frame_t *f)
{
    const struct kmm__device_memory *m = f->device->memory;
    if (f->pins && f->state != KMM__FRAME_MAPPED)
        return false;
    if (f->premapped &&
        (f->pins || (f->state != KMM__FRAME_MAPPED && f->state != KMM__FRAME_MOVING)))
        return false;
    if (f->state == KMM__FRAME_MAPPED)
        return links_are_valid(f, f->pins ? m->busy : m->idle);
    if (f->state == KMM__FRAME_EVICTED)
        return links_are_valid(f, m->evicted);
    return !f->previous && !f->next;
}

/* Returns the bytes of the frames on a list, or UINT64_MAX if one of them does not belong there. */
static uint64_t list_bytes(const kmm__frame_t *list, kmm__frame_state_t state, bool is_pinned)
{
    uint64_t bytes = 0;
    for (const kmm__frame_t *f = list; f; f = f->next) {
        if (f->state != state || (f->pins > 0) != is_pinned || !kmm__frame_is_valid(f))
            return UINT64_MAX;
        bytes += kmm__frame_bytes(f);
    }
    return bytes;
}

bool kmm__device_memory_is_valid(const kmm__device_t *d)
{
    const struct kmm__device_memory *m = d->memory;
    uint64_t idle = list_bytes(m->idle, KMM__FRAME_MAPPED, false),
             busy = list_bytes(m->busy, KMM__FRAME_MAPPED, true),
             evicted = list_bytes(m->evicted, KMM__FRAME_EVICTED, false),
             others = m->evicting_bytes + kmm__pack_bytes(d), premapped = 0;
    if (idle == UINT64_MAX || busy == UINT64_MAX || evicted == UINT64_MAX)
        return false;
    for (uint32_t k = 0; k < m->spare_count; k++)
        others += m->spare[k].bytes;
    for (const kmm__frame_t *f = m->idle; f; f = f->next)
        premapped += f->premapped ? kmm__frame_size(f) : 0;
    /* MOVING frames are part of `used` and on no list. */
    return busy == m->pinned_bytes && premapped <= m->premapped_bytes &&
           idle + busy + evicted + others <= m->used && m->limit <= m->most &&
           (m->evicting > 0 || m->evicting_bytes == 0);
}

/* ---- States ---- */

/* Sets the state, and counts the array's mapped frames: mostly all are mapped, which is then known
 * without looking. */
static void state_set(kmm__frame_t *f, kmm__frame_state_t state)
{
    kmm__residence_t *r = &f->array->residence[f->device->index];
    r->mapped += (state == KMM__FRAME_MAPPED) - (f->state == KMM__FRAME_MAPPED);
    f->state = state;
}

static void check(const kmm__frame_t *f)
{
    (void)f;
    assert(kmm__frame_is_valid(f));
    KMM__ASSERT_SOMETIMES(kmm__device_memory_is_valid(f->device));
}

/* Clears the premapped mark: the frame is pinned or is being unmapped. */
static void premap_end(kmm__frame_t *f)
{
    if (f->premapped)
        f->device->memory->premapped_bytes -= kmm__frame_size(f);
    f->premapped = false;
}

void kmm__frame_begin_mapping(kmm__frame_t *f)
{
    assert(f->state == KMM__FRAME_ABSENT);
    state_set(f, KMM__FRAME_MOVING);
    check(f);
}

void kmm__frame_mapping_failed(kmm__frame_t *f)
{
    assert(f->state == KMM__FRAME_MOVING);
    premap_end(f);
    state_set(f, KMM__FRAME_ABSENT);
    check(f);
}

void kmm__frame_mapped(kmm__frame_t *f, bool is_allowed)
{
    assert(f->state == KMM__FRAME_MOVING);
    f->allowed = is_allowed;
    state_set(f, KMM__FRAME_MAPPED);
    list_push(&f->device->memory->idle, f);
    check(f);
    kmm__trace_memory(f->device);
}

void kmm__frame_begin_eviction(kmm__frame_t *f)
{
    struct kmm__device_memory *m = f->device->memory;
    assert(f->state == KMM__FRAME_MAPPED && f->pins == 0);
    list_remove(&m->idle, f);
    premap_end(f);
    state_set(f, KMM__FRAME_EVICTING);
    m->evicting++;
    m->evicting_bytes += kmm__frame_bytes(f);
    check(f);
}

static void eviction_end(kmm__frame_t *f)
{
    assert(f->state == KMM__FRAME_EVICTING);
    f->device->memory->evicting--;
    f->device->memory->evicting_bytes -= kmm__frame_bytes(f);
}

void kmm__frame_eviction_failed(kmm__frame_t *f)
{
    eviction_end(f);
    state_set(f, KMM__FRAME_MAPPED);
    list_push(&f->device->memory->idle, f);
    check(f);
}

void kmm__frame_evicted(kmm__frame_t *f)
{
    eviction_end(f);
    state_set(f, KMM__FRAME_EVICTED);
    list_push(&f->device->memory->evicted, f);
    check(f);
}

void kmm__frame_reclaim(kmm__frame_t *f)
{
    assert(f->state == KMM__FRAME_EVICTED);
    list_remove(&f->device->memory->evicted, f);
    state_set(f, KMM__FRAME_MAPPED);
    list_push(&f->device->memory->idle, f);
    check(f);
}

void kmm__frame_begin_unmapping(kmm__frame_t *f)
{
    struct kmm__device_memory *m = f->device->memory;
    assert(f->pins == 0 && (f->state == KMM__FRAME_MAPPED || f->state == KMM__FRAME_EVICTED));
    list_remove(f->state == KMM__FRAME_MAPPED ? &m->idle : &m->evicted, f);
    premap_end(f);
    state_set(f, KMM__FRAME_MOVING);
    check(f);
}

void kmm__frame_unmapped(kmm__frame_t *f)
{
    assert(f->state == KMM__FRAME_MOVING);
    f->shared = 0;
    f->allowed = false;
    state_set(f, KMM__FRAME_ABSENT);
    check(f);
}

void kmm__frame_unmapping_failed(kmm__frame_t *f)
{
    assert(f->state == KMM__FRAME_MOVING);
    state_set(f, KMM__FRAME_EVICTED);
    list_push(&f->device->memory->evicted, f);
    check(f);
}

/* ---- Pins ---- */

bool kmm__arrays_fit(const kmm__device_t *d)
{
    enum { SLABS = 16 }; /* part of a device that slabs may take (pack.c) */
    return d->runtime->memory->framed_bytes <= d->memory->limit - d->memory->limit / SLABS;
}

bool kmm__frames_fit(const kmm__device_t *d)
{
    return kmm__arrays_fit(d) && !d->memory->pressure;
}

void kmm__frame_pin(kmm__task_t *t, kmm__frame_t *f)
{
    kmm__device_t *d = f->device;
    assert(f->state == KMM__FRAME_MAPPED);
    if (f->pins++ == 0) {
        list_remove(&d->memory->idle, f);
        list_push(&d->memory->busy, f);
        d->memory->pinned_bytes += kmm__frame_bytes(f);
        premap_end(f);
        check(f);
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
        assert(f->pins > 0);
        if (--f->pins)
            continue;
        d->memory->pinned_bytes -= kmm__frame_bytes(f);
        list_remove(&d->memory->busy, f);
        list_push(&d->memory->idle, f);
        check(f);
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

/* Calls fn for the frames of a box in a flat layout. */
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
