/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of copies to devices: pages in memory, or buffers into which pages are read. */
#include "memory/disk/source.h"

#include "base/error.h"
#include "base/thread.h"
#include "memory/disk/evict.h"
#include "memory/disk/job.h"
#include "memory/host/pagelock.h"
#include "memory/lifetime.h"

typedef struct plan {
    kmm__array_t *array;
    bool given;
} plan_t;

static void plan_bytes(const plan_t *p, int64_t begin, int64_t end)
{
    int64_t size = (int64_t)p->array->runtime->memory->spill->page_bytes;
    for (int64_t k = begin / size; k * size < end; k++) {
        kmm__page_t *s = &p->array->pages[k];
        s->planned_reads = p->given ? s->planned_reads + 1 : s->planned_reads - 1;
    }
}

static int plan_rows(void *arg, const kmm__rows_t *rows)
{
    plan_t *p = arg;
    bool dense = rows->pitch <= (int64_t)p->array->runtime->memory->spill->page_bytes;
    if (dense || rows->count == 1)
        plan_bytes(p, rows->offset, rows->offset + (rows->count - 1) * rows->pitch + rows->width);
    for (int64_t k = 0; k < rows->count && !dense && rows->count > 1; k++)
        plan_bytes(p, rows->offset + k * rows->pitch, rows->offset + k * rows->pitch + rows->width);
    return 0;
}

void kmm__pages_plan_read(kmm__array_t *a, const kmm__layout_t *layout, const kmm__box_t *box,
                          bool given)
{
    plan_t p = {a, given};
    if (a->pages)
        kmm__layout_rows(layout, box, plan_rows, &p);
}

static kmm__spill_buffer_t *buffer_take(kmm__spill_t *p)
{
    for (uint32_t k = 0; k < KMM__SPILL_BUFFERS; k++)
        if (!p->buffers[k].busy)
            return &p->buffers[k];
    return NULL;
}

/* True if a page should be read to its own memory. It is, while there is room for which no thread
 * waits. Otherwise it is read to a buffer; room is made for it only if a page in memory was last
 * used before it. So of data that is read repeatedly in one order, a part stays in memory, instead
 * of each page pushing out the one that is needed next. */
static bool source_fits(kmm__spill_t *p, const kmm__page_t *s)
{
    if (p->turn != p->next_turn)
        return false;
    if (p->resident + kmm__page_bytes(s) <= p->limit)
        return true;
    if (p->idle_head && p->idle_head->used < s->used &&
        p->evicting < p->limit / KMM__SPILL_EARLY_PART)
        kmm__pages_evict(p, false);
    return false;
}

/* Locked: makes a pinned page RESIDENT or READING. False: it stays ABSENT, or is EVICTING. */
static bool source_brings(kmm__spill_t *p, kmm__page_t *s)
{
    if (s->state != KMM__PAGE_ABSENT)
        return s->state != KMM__PAGE_EVICTING;
    if (!source_fits(p, s))
        return false;
    kmm__page_begin_read(p, s);
    kmm__job_push(p, KMM__JOB_READ, s, NULL);
    return true;
}

static bool source_fill(kmm__spill_t *p, kmm__page_t *s, bool waits, kmm__page_source_t *out)
{
    kmm__spill_buffer_t *b = buffer_take(p);
    if (!b && !waits)
        return false;
    if (!b) {
        kmm__cond_wait(&p->changed, &p->runtime->lock);
        return false;
    }
    b->busy = b->reading = true;
    s->slot_readers++;
    s->used = ++p->clock;
    out->buffer = b;
    kmm__job_push(p, KMM__JOB_FILL, s, b);
    return true;
}

bool kmm__page_source_begin(kmm__array_t *a, int64_t offset, bool waits, kmm__page_source_t *out)
{
    kmm_runtime_t *rt = a->runtime;
    kmm__spill_t *p = rt->memory->spill;
    kmm__page_t *s = &a->pages[(uint64_t)offset / p->page_bytes];
    bool begun = false;
    *out = (kmm__page_source_t){.page = s};
    pthread_mutex_lock(&rt->lock);
    kmm__array_ref(a);
    out->missing = s->state == KMM__PAGE_ABSENT && !s->clean;
    begun = out->missing && waits;
    while (!begun && !out->missing) {
        kmm__page_pin(p, s);
        while (s->state == KMM__PAGE_EVICTING && waits)
            kmm__cond_wait(&p->changed, &rt->lock);
        begun = source_brings(p, s);
        if (begun)
            break;
        uint64_t used = s->used;
        kmm__page_unpin(p, s);
        s->used = used; /* undone: the page was not used */
        begun = s->state == KMM__PAGE_ABSENT && source_fill(p, s, waits, out);
        if (!waits)
            break;
    }
    if (!begun) {
        kmm__array_unref(a);
        out->page = NULL;
    }
    pthread_mutex_unlock(&rt->lock);
    return begun;
}

/* Page-locks a buffer for the backend that uses it first. No other thread has it. */
static void buffer_prepare(kmm__spill_buffer_t *b, kmm__backend_t *backend, uint64_t bytes)
{
    if (b->tried || bytes < KMM__LOCK_AT_LEAST)
        return;
    b->tried = true;
    if (backend->host_register(backend, b->memory, bytes) == 0)
        b->locked_by = backend;
}

int kmm__page_source_await(kmm__page_source_t *s, kmm__backend_t *backend)
{
    kmm__array_t *a = s->page->array;
    kmm_runtime_t *rt = a->runtime;
    kmm__spill_t *p = rt->memory->spill;
    kmm__spill_buffer_t *b = s->buffer;
    s->base = a->host;
    if (s->missing) {
        kmm__page_source_end(s);
        return kmm__error_set(
            KMM_E_IO,
            "a part of an array that the host should hold is neither in memory nor on disk");
    }
    pthread_mutex_lock(&rt->lock);
    while (b && b->reading)
        kmm__cond_wait(&p->changed, &rt->lock);
    int error = !b         ? kmm__page_await(p, s->page)
                : b->error ? kmm__page_error(p, s->page, b->error)
                           : 0;
    pthread_mutex_unlock(&rt->lock);
    if (b) {
        buffer_prepare(b, backend, p->page_bytes);
        s->base = (char *)((uintptr_t)b->memory - s->page->index * p->page_bytes);
    }
    if (error)
        kmm__page_source_end(s);
    return error;
}

void kmm__page_source_end(kmm__page_source_t *s)
{
    kmm__array_t *a = s->page->array;
    kmm_runtime_t *rt = a->runtime;
    pthread_mutex_lock(&rt->lock);
    if (s->buffer) {
        s->buffer->busy = false;
        pthread_cond_broadcast(&rt->memory->spill->changed);
    } else if (!s->missing) {
        kmm__page_unpin(rt->memory->spill, s->page);
    }
    kmm__array_unref(a);
    pthread_mutex_unlock(&rt->lock);
    *s = (kmm__page_source_t){0};
}
