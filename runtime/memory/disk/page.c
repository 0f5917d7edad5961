/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of host buffers: their states, pins and slots, and the pages of an array. */
#include "memory/disk/page.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "base/trace.h"
#include "base/valid.h"

enum { OS_PAGE = 4096 };

/* ---- Memory and the idle list ---- */

uint64_t kmm__page_bytes(const kmm__page_t *s)
{
    uint64_t size = s->array->runtime->memory->spill->page_bytes,
             left = s->array->bytes - s->index * size;
    return left >= size ? size : (left + OS_PAGE - 1) / OS_PAGE * OS_PAGE;
}

char *kmm__page_memory(const kmm__page_t *s)
{
    return s->array->host + s->index * s->array->runtime->memory->spill->page_bytes;
}

static void idle_push(kmm__spill_t *p, kmm__page_t *s)
{
    s->next = NULL;
    s->previous = p->idle_tail;
    *(p->idle_tail ? &p->idle_tail->next : &p->idle_head) = s;
    p->idle_tail = s;
}

static void idle_push_front(kmm__spill_t *p, kmm__page_t *s)
{
    s->previous = NULL;
    s->next = p->idle_head;
    *(p->idle_head ? &p->idle_head->previous : &p->idle_tail) = s;
    p->idle_head = s;
}

static void idle_remove(kmm__spill_t *p, kmm__page_t *s)
{
    *(s->previous ? &s->previous->next : &p->idle_head) = s->next;
    *(s->next ? &s->next->previous : &p->idle_tail) = s->previous;
    s->previous = s->next = NULL;
}

/* ---- Validity ---- */

static bool is_idle(const kmm__page_t *s)
{
    return s->state == KMM__PAGE_RESIDENT && s->pins == 0;
}

bool kmm__page_is_valid(const kmm__spill_t *p, const kmm__page_t *s)
{
    bool is_listed = s->previous || s->next || p->idle_head == s;
    if (is_listed != is_idle(s))
        return false;
    if (is_listed && ((s->previous ? s->previous->next : p->idle_head) != s ||
                      (s->next ? s->next->previous : p->idle_tail) != s))
        return false;
    if ((s->clean || s->slot_readers) && s->slot < 0)
        return false;
    return s->state == KMM__PAGE_READING ? s->clean : !s->dirty_after_read;
}

bool kmm__spill_is_valid(const kmm__spill_t *p)
{
    uint64_t idle = 0;
    for (const kmm__page_t *s = p->idle_head; s; s = s->next) {
        if (!is_idle(s) || !kmm__page_is_valid(p, s))
            return false;
        idle += kmm__page_bytes(s);
    }
    for (uint32_t k = 0; k < KMM__SPILL_BUFFERS; k++)
        if (p->buffers[k].reading && !p->buffers[k].busy)
            return false;
    return idle + p->evicting <= p->resident && p->resident <= p->limit &&
           p->turn <= p->next_turn && p->in_flight <= KMM__DISK_DEPTH &&
           (int64_t)p->free_count <= p->slot_count;
}

static void check(const kmm__spill_t *p, const kmm__page_t *s)
{
    (void)p, (void)s;
    assert(kmm__page_is_valid(p, s));
    KMM__ASSERT_SOMETIMES(kmm__spill_is_valid(p));
}

/* ---- Pins ---- */

void kmm__page_pin(kmm__spill_t *p, kmm__page_t *s)
{
    if (s->pins++ == 0 && s->state == KMM__PAGE_RESIDENT)
        idle_remove(p, s);
    check(p, s);
}

void kmm__page_unpin(kmm__spill_t *p, kmm__page_t *s)
{
    assert(s->pins > 0);
    s->used = ++p->clock;
    if (--s->pins == 0 && s->state == KMM__PAGE_RESIDENT)
        idle_push(p, s);
    check(p, s);
    pthread_cond_broadcast(&p->changed);
}

/* A page that could not be read is not marked: its contents on disk are the newest. */
void kmm__page_dirty(kmm__page_t *s)
{
    assert(s->pins > 0);
    if (s->state == KMM__PAGE_READING)
        s->dirty_after_read = true;
    else if (s->state == KMM__PAGE_RESIDENT)
        s->clean = false;
}

/* ---- States ---- */

static void room_take(kmm__spill_t *p, const kmm__page_t *s)
{
    p->resident += kmm__page_bytes(s);
    if (p->resident > p->stats.most)
        p->stats.most = p->resident;
    KMM__TRACE(.kind = KMM__EVENT_HOST_MEMORY, .a = p->resident);
}

static void become_resident(kmm__spill_t *p, kmm__page_t *s)
{
    s->state = KMM__PAGE_RESIDENT;
    if (s->pins == 0)
        idle_push(p, s);
    check(p, s);
    pthread_cond_broadcast(&p->changed);
}

static void become_absent(kmm__spill_t *p, kmm__page_t *s)
{
    s->state = KMM__PAGE_ABSENT;
    p->resident -= kmm__page_bytes(s);
    KMM__TRACE(.kind = KMM__EVENT_HOST_MEMORY, .a = p->resident);
    check(p, s);
    pthread_cond_broadcast(&p->changed);
}

void kmm__page_begin_read(kmm__spill_t *p, kmm__page_t *s)
{
    assert(s->state == KMM__PAGE_ABSENT);
    room_take(p, s);
    s->state = KMM__PAGE_READING;
    check(p, s);
}

void kmm__page_make_empty(kmm__spill_t *p, kmm__page_t *s)
{
    assert(s->state == KMM__PAGE_ABSENT);
    room_take(p, s);
    s->clean = false;
    become_resident(p, s);
}

void kmm__page_arrive(kmm__spill_t *p, kmm__page_t *s)
{
    assert(s->state == KMM__PAGE_READING);
    s->clean &= !s->dirty_after_read;
    s->dirty_after_read = false;
    become_resident(p, s);
}

void kmm__page_fail(kmm__spill_t *p, kmm__page_t *s)
{
    assert(s->state == KMM__PAGE_READING);
    s->dirty_after_read = false;
    become_absent(p, s);
}

void kmm__page_begin_evict(kmm__spill_t *p, kmm__page_t *s)
{
    assert(is_idle(s));
    idle_remove(p, s);
    s->state = KMM__PAGE_EVICTING;
    p->evicting += kmm__page_bytes(s);
    check(p, s);
}

void kmm__page_stay(kmm__spill_t *p, kmm__page_t *s)
{
    assert(s->state == KMM__PAGE_EVICTING);
    p->evicting -= kmm__page_bytes(s);
    become_resident(p, s);
}

void kmm__page_leave(kmm__spill_t *p, kmm__page_t *s)
{
    assert(s->state == KMM__PAGE_EVICTING);
    p->evicting -= kmm__page_bytes(s);
    become_absent(p, s);
}

/* RESIDENT -> ABSENT, when its array ends. */
static void page_drop(kmm__spill_t *p, kmm__page_t *s)
{
    assert(is_idle(s));
    idle_remove(p, s);
    become_absent(p, s);
}

/* ---- Reads ---- */

int kmm__page_error(kmm__spill_t *p, const kmm__page_t *s, int error)
{
    long long at = (long long)s->slot * (long long)p->page_bytes;
    if (error == KMM_E_CORRUPT)
        return kmm__error_set(error,
                              "%s: %llu bytes at byte %lld of the spill file are not what was "
                              "written there (checksum)",
                              kmm__disk_folder(p->disk), (unsigned long long)kmm__page_bytes(s),
                              at);
    return kmm__error_set(
        KMM_E_IO, "%s: %llu bytes at byte %lld of the spill file could not be read: %s",
        kmm__disk_folder(p->disk), (unsigned long long)kmm__page_bytes(s), at, strerror(error));
}

int kmm__page_await(kmm__spill_t *p, kmm__page_t *s)
{
    while (s->state == KMM__PAGE_READING)
        kmm__cond_wait(&p->changed, &p->runtime->lock);
    return s->state == KMM__PAGE_RESIDENT ? 0 : kmm__page_error(p, s, s->error);
}

/* ---- The file's slots ---- */

int64_t kmm__slot_take(kmm__spill_t *p)
{
    return p->free_count ? p->free_slots[--p->free_count] : p->slot_count++;
}

static void slot_give(kmm__spill_t *p, int64_t slot)
{
    p->free_slots =
        kmm__grow(p->free_slots, p->free_count, &p->free_capacity, sizeof(*p->free_slots));
    p->free_slots[p->free_count++] = slot;
}

/* Frees the slots of an array's pages, and releases the file's space, neighbours together. Called
 * locked, unlocks meanwhile. */
static void slots_give(kmm__spill_t *p, kmm__array_t *a)
{
    pthread_mutex_unlock(&p->runtime->lock);
    for (uint32_t k = 0, n; k < a->page_count; k += n) {
        int64_t first = a->pages[k].slot;
        for (n = 1; first >= 0 && k + n < a->page_count && a->pages[k + n].slot == first + n;)
            n++;
        if (first >= 0)
            kmm__disk_discard(p->disk, first * (int64_t)p->page_bytes, n * p->page_bytes);
    }
    pthread_mutex_lock(&p->runtime->lock);
    for (uint32_t k = a->page_count; k-- > 0;)
        if (a->pages[k].slot >= 0)
            slot_give(p, a->pages[k].slot);
}

/* ---- Arrays ---- */

void kmm__spill_array(kmm__array_t *a)
{
    kmm__spill_t *p = a->runtime->memory->spill;
    if (!p || a->is_mapped || a->object.is_abstract)
        return;
    a->page_count = (uint32_t)((a->bytes + p->page_bytes - 1) / p->page_bytes);
    a->page_bytes = p->page_bytes;
    a->pages = kmm__alloc(a->page_count * sizeof(*a->pages));
    for (uint32_t k = 0; k < a->page_count; k++)
        a->pages[k] = (kmm__page_t){.array = a, .index = k, .slot = -1};
}

void kmm__spill_array_dead(kmm__array_t *a)
{
    kmm__spill_t *p = a->runtime->memory->spill;
    for (uint32_t k = 0; a->pages && k < a->page_count; k++) {
        kmm__page_t *s = &a->pages[k];
        if (s->state != KMM__PAGE_RESIDENT || s->pins)
            continue;
        idle_remove(p, s);
        idle_push_front(p, s);
    }
    if (a->pages)
        pthread_cond_broadcast(&p->changed);
}

void kmm__spill_forget(kmm__array_t *a)
{
    kmm__spill_t *p = a->runtime->memory->spill;
    if (!a->pages)
        return;
    for (uint32_t k = 0; k < a->page_count; k++) {
        kmm__page_t *s = &a->pages[k];
        while (s->state == KMM__PAGE_EVICTING || s->state == KMM__PAGE_READING || s->slot_readers)
            kmm__cond_wait(&p->changed, &p->runtime->lock);
        if (s->state != KMM__PAGE_RESIDENT)
            continue;
        page_drop(p, s);
    }
    slots_give(p, a);
    free(a->pages);
    a->pages = NULL;
    a->page_count = 0;
}

uint64_t kmm__spill_room(const kmm_runtime_t *rt)
{
    return rt->memory->spill ? rt->memory->spill->limit : 0;
}

uint64_t kmm__spill_page_bytes(const kmm_runtime_t *rt)
{
    return rt->memory->spill ? rt->memory->spill->page_bytes : 0;
}
