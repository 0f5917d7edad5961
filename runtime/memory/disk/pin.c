/* SPDX-License-Identifier: Apache-2.0 */
/* Pins of pages. All pages of a task are pinned at once, by one thread at a time (the turn), so
 * that two tasks cannot each wait for the other's pages. */
#include "memory/disk/pin.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "memory/disk/evict.h"
#include "memory/disk/job.h"
#include "memory/holders.h"
#include "memory/lifetime.h"

static void turn_enter(kmm__spill_t *p)
{
    uint64_t mine = p->next_turn++;
    while (p->turn != mine)
        kmm__cond_wait(&p->changed, &p->runtime->lock);
}

static void turn_leave(kmm__spill_t *p)
{
    p->turn++;
    pthread_cond_broadcast(&p->changed);
}

/* Makes a pinned page RESIDENT or READING. Waits for room if needed. This thread has the turn. */
static int page_bring(kmm__spill_t *p, const kmm__page_pin_t *h)
{
    kmm__page_t *s = h->page;
    while (s->state == KMM__PAGE_EVICTING)
        kmm__cond_wait(&p->changed, &p->runtime->lock);
    if (s->state != KMM__PAGE_ABSENT)
        return 0;
    int error = kmm__room_make(p, kmm__page_bytes(s));
    if (error || s->state != KMM__PAGE_ABSENT) /* a source may have brought it meanwhile */
        return error;
    if (s->clean && (h->covers ? h->reads : true) && kmm__page_matters(s)) {
        kmm__page_begin_read(p, s);
        kmm__job_push(p, KMM__JOB_READ, s, NULL);
    } else {
        kmm__page_make_empty(p, s);
    }
    return 0;
}

static int pins_bring(kmm__spill_t *p, kmm__page_pins_t *pins, bool awaits)
{
    int error = 0;
    turn_enter(p);
    for (uint32_t k = 0; k < pins->count; k++)
        kmm__page_pin(p, pins->pin[k].page);
    for (uint32_t k = 0; k < pins->count && !error; k++)
        error = page_bring(p, &pins->pin[k]);
    turn_leave(p);
    for (uint32_t k = 0; k < pins->count && !error && awaits; k++)
        error = kmm__page_await(p, pins->pin[k].page);
    for (uint32_t k = 0; k < pins->count; k++) {
        if (error)
            kmm__page_unpin(p, pins->pin[k].page);
        else if (pins->pin[k].writes)
            kmm__page_dirty(pins->pin[k].page);
    }
    return error;
}

static int pins_acquire(kmm__spill_t *p, kmm__page_pins_t *pins, bool awaits)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < pins->count; k++)
        bytes += kmm__page_bytes(pins->pin[k].page);
    if (bytes > p->limit) {
        pins->count = 0;
        return kmm__error_set(KMM_E_MEMORY,
                              "needs %llu bytes of host memory at once, of which KMM_HOST_MEM "
                              "leaves %llu; raise it, or divide the work into smaller chunks",
                              (unsigned long long)bytes, (unsigned long long)p->limit);
    }
    bool full = p->resident + bytes > p->limit;
    int error = pins->count ? pins_bring(p, pins, awaits) : 0;
    if (error)
        pins->count = 0;
    else if (full)
        kmm__pages_evict_early(p);
    return error;
}

void kmm__spill_unpin(kmm_runtime_t *rt, kmm__page_pins_t *pins)
{
    for (uint32_t k = 0; k < pins->count; k++)
        kmm__page_unpin(rt->memory->spill, pins->pin[k].page);
    free(pins->pin);
    *pins = (kmm__page_pins_t){0};
}

/* ---- Collection: the pages to pin ---- */

typedef struct collect {
    kmm__spill_t *spill;
    kmm__page_pins_t *pins;
    kmm__array_t *array;
    bool reads, writes, whole; /* whole: the rows are one run of bytes, all of which are written */
    bool more;                 /* some page was added */
} collect_t;

static void collect_page(collect_t *c, kmm__page_t *s, bool covers)
{
    if (s->stamp != c->spill->stamp) {
        s->stamp = c->spill->stamp;
        s->listed = c->pins->count;
        c->pins->pin =
            kmm__grow(c->pins->pin, c->pins->count, &c->pins->capacity, sizeof(*c->pins->pin));
        c->pins->pin[c->pins->count++] = (kmm__page_pin_t){.page = s};
        c->more = true;
    }
    kmm__page_pin_t *h = &c->pins->pin[s->listed];
    h->reads |= c->reads;
    h->writes |= c->writes;
    h->covers |= covers;
}

static void collect_bytes(collect_t *c, int64_t begin, int64_t end)
{
    int64_t size = (int64_t)c->spill->page_bytes;
    for (int64_t k = begin / size; k * size < end; k++) {
        int64_t last =
            (k + 1) * size < (int64_t)c->array->bytes ? (k + 1) * size : (int64_t)c->array->bytes;
        collect_page(c, &c->array->pages[k], c->whole && begin <= k * size && end >= last);
    }
}

static int collect_rows(void *arg, const kmm__rows_t *rows)
{
    collect_t *c = arg;
    if (rows->count > 1 && rows->pitch <= (int64_t)c->spill->page_bytes) {
        bool whole = c->whole;
        c->whole = false;
        collect_bytes(c, rows->offset,
                      rows->offset + (rows->count - 1) * rows->pitch + rows->width);
        c->whole = whole;
        return 0;
    }
    for (int64_t k = 0; k < rows->count; k++)
        collect_bytes(c, rows->offset + k * rows->pitch,
                      rows->offset + k * rows->pitch + rows->width);
    return 0;
}

/* Begins a new collection. Marks the pages that have a pin already, so that only other pages are
 * added. */
static void collect_begin(collect_t *c, kmm__spill_t *p, kmm__page_pins_t *pins)
{
    *c = (collect_t){.spill = p, .pins = pins};
    p->stamp++;
    for (uint32_t k = 0; k < pins->count; k++) {
        pins->pin[k].page->stamp = p->stamp;
        pins->pin[k].page->listed = k;
    }
}

static int is_elsewhere(void *arg, const kmm__box_t *part, const void *value)
{
    (void)part;
    uint32_t valid = kmm__holders_valid(arg, value);
    return valid && !(valid & 1u << KMM__HOST);
}

/* True if a task on the host must have the data it reads copied to the host first. The copy writes
 * the page. */
static bool is_fetched(const kmm__access_t *a)
{
    kmm_runtime_t *rt = a->array->runtime;
    kmm__box_t boxes[2 * KMM__DIMS];
    int n = kmm__access_boxes(a, &a->array->coherence, kmm__holders_ops(rt), rt, boxes), any = 0;
    for (int b = 0; b < n && !any; b++)
        any = kmm__map_visit(a->array->coherence.map, &boxes[b], is_elsewhere, rt);
    return any;
}

static void collect_host_task(collect_t *c, void *task)
{
    const kmm__task_t *t = task;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        if (!a->array->pages)
            continue;
        c->array = a->array;
        c->reads = a->mode != KMM_WRITE;
        c->writes = a->mode != KMM_READ || is_fetched(a);
        c->whole = a->mode == KMM_WRITE;
        kmm__layout_rows(a->layout, &a->box, collect_rows, c);
    }
}

/* A task on a device, and parts of its accesses that only devices of other backends hold: these
 * come through the host. */
typedef struct crossing {
    collect_t *collect;
    const kmm__task_t *task;
} crossing_t;

static int collect_crossing(void *arg, const kmm__box_t *part, const void *value)
{
    crossing_t *x = arg;
    const kmm__device_t *to = x->task->device;
    uint32_t valid = kmm__holders_valid(to->runtime, value);
    if (!valid || valid & (1u << KMM__HOST | 1u << to->space))
        return 0;
    for (uint32_t k = 0; k < to->runtime->device_count; k++) {
        const kmm__device_t *d = to->runtime->device[k];
        if (d->space != KMM__HOST && (valid >> d->space & 1) && d->backend == to->backend)
            return 0;
    }
    return kmm__layout_rows(&x->collect->array->coherence.layout, part, collect_rows, x->collect);
}

static void collect_device_task(collect_t *c, void *task)
{
    kmm__task_t *t = task;
    kmm_runtime_t *rt = t->device->runtime;
    crossing_t x = {c, t};
    c->writes = true;
    for (uint32_t k = 0; k < t->access_count; k++) {
        const kmm__access_t *a = &t->accesses[k];
        kmm__box_t boxes[2 * KMM__DIMS];
        if (a->mode == KMM_WRITE || a->array->object.is_abstract || a->array->is_mapped ||
            !kmm__array_host(a->array))
            continue;
        c->array = a->array;
        int n = kmm__access_boxes(a, &a->array->coherence, kmm__holders_ops(rt), rt, boxes);
        for (int b = 0; b < n; b++)
            kmm__map_visit(a->array->coherence.map, &boxes[b], collect_crossing, &x);
    }
}

static int evict_sole(void *arg, const kmm__box_t *part, const void *value)
{
    crossing_t *x = arg;
    const kmm__device_t *from = x->task->device;
    if (kmm__holders_valid(from->runtime, value) != 1u << from->space)
        return 0;
    return kmm__layout_rows(&x->collect->array->coherence.layout, part, collect_rows, x->collect);
}

/* Bytes of an array that an eviction copies out of a device. */
typedef struct leaving {
    kmm__array_t *array;
    int64_t begin, end;
    kmm__device_t *from;
} leaving_t;

static void collect_leaving(collect_t *c, void *arg)
{
    const leaving_t *l = arg;
    kmm__task_t where = {.device = l->from};
    crossing_t x = {c, &where};
    kmm__box_t boxes[2 * KMM__DIMS];
    c->array = l->array;
    c->writes = true;
    int n = kmm__layout_split(&l->array->coherence.layout, l->begin, l->end, boxes);
    for (int b = 0; b < n; b++)
        kmm__map_visit(l->array->coherence.map, &boxes[b], evict_sole, &x);
}

/* Pins all pages that `fn` lists. While this waits, the list may grow. Then all pages are unpinned
 * and pinned anew together, so that no thread has pages pinned while it waits for room. */
static int pin_all(kmm__spill_t *p, kmm__page_pins_t *pins, bool awaits,
                   void (*fn)(collect_t *c, void *arg), void *arg)
{
    for (uint32_t pinned = 0;;) {
        collect_t c;
        collect_begin(&c, p, pins);
        fn(&c, arg);
        if (!c.more)
            return 0;
        while (pinned)
            kmm__page_unpin(p, pins->pin[--pinned].page);
        int error = pins_acquire(p, pins, awaits);
        if (error) {
            free(pins->pin);
            *pins = (kmm__page_pins_t){0};
            return error;
        }
        pinned = pins->count;
    }
}

/* ---- Tasks ---- */

int kmm__spill_pin_task(kmm__task_t *t)
{
    kmm__spill_t *p = t->device->runtime->memory->spill;
    bool on_host = t->device->space == KMM__HOST;
    kmm__page_pins_t pins = {0};
    if (!p || (!on_host && !p->crosses))
        return 0;
    int error = pin_all(p, &pins, !on_host, on_host ? collect_host_task : collect_device_task, t);
    if (pins.count) {
        t->residency.page_pins = kmm__alloc(sizeof(*t->residency.page_pins));
        *t->residency.page_pins = pins;
    }
    return error;
}

bool kmm__spill_may_wait(const kmm_runtime_t *rt)
{
    return rt->memory->spill && rt->memory->spill->crosses;
}

int kmm__spill_await_task(kmm__task_t *t)
{
    int error = 0;
    for (uint32_t k = 0; t->residency.page_pins && k < t->residency.page_pins->count && !error; k++)
        error =
            kmm__page_await(t->device->runtime->memory->spill, t->residency.page_pins->pin[k].page);
    return error;
}

int kmm__spill_expect_task(kmm__task_t *t)
{
    kmm__page_pins_t *pins = t->residency.page_pins;
    for (uint32_t k = 0; pins && k < pins->count; k++)
        if (pins->pin[k].page->state == KMM__PAGE_ABSENT) /* its read failed */
            return kmm__page_error(t->device->runtime->memory->spill, pins->pin[k].page,
                                   pins->pin[k].page->error);
    for (uint32_t k = 0; pins && k < pins->count; k++) {
        kmm__page_t *s = pins->pin[k].page;
        if (s->state != KMM__PAGE_READING)
            continue;
        s->waiters =
            kmm__grow(s->waiters, s->waiter_count, &s->waiter_capacity, sizeof(*s->waiters));
        s->waiters[s->waiter_count++] = t;
        if (pins->pending++ == 0)
            kmm__task_run_later(t, 1);
    }
    return 0;
}

void kmm__spill_tell_waiters(kmm__spill_t *p, kmm__page_t *s, int error)
{
    kmm__task_t **waiters = s->waiters;
    uint32_t count = s->waiter_count;
    s->waiters = NULL;
    s->waiter_count = s->waiter_capacity = 0;
    for (uint32_t k = 0; k < count; k++)
        waiters[k]->runtime->tasks->hooks->arrived(waiters[k],
                                                   error ? kmm__page_error(p, s, error) : 0,
                                                   --waiters[k]->residency.page_pins->pending == 0);
    free(waiters);
}

void kmm__spill_unpin_task(kmm__task_t *t)
{
    if (!t->residency.page_pins)
        return;
    kmm__spill_unpin(t->device->runtime, t->residency.page_pins);
    free(t->residency.page_pins);
    t->residency.page_pins = NULL;
}

int kmm__spill_pin_bytes(kmm__array_t *a, int64_t begin, int64_t end, kmm__device_t *from,
                         kmm__page_pins_t *pins)
{
    leaving_t l = {a, begin, end, from};
    return pin_all(a->runtime->memory->spill, pins, true, collect_leaving, &l);
}
