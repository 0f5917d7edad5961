/* SPDX-License-Identifier: Apache-2.0 */
/* Sheets of host buffers: their states, who needs them in memory, and those of an array. */
#include "memory/disk/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { OS_PAGE = 4096 };

uint64_t kmm__sheet_bytes(const kmm__sheet_t *s)
{
    uint64_t size = s->array->runtime->memory->spill->sheet_bytes,
             left = s->array->bytes - s->index * size;
    return left >= size ? size : (left + OS_PAGE - 1) / OS_PAGE * OS_PAGE;
}

char *kmm__sheet_memory(const kmm__sheet_t *s)
{
    return s->array->host + s->index * s->array->runtime->memory->spill->sheet_bytes;
}

static void idle_push(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->next = NULL;
    s->previous = p->idle_tail;
    *(p->idle_tail ? &p->idle_tail->next : &p->idle_head) = s;
    p->idle_tail = s;
}

static void idle_push_front(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->previous = NULL;
    s->next = p->idle_head;
    *(p->idle_head ? &p->idle_head->previous : &p->idle_tail) = s;
    p->idle_head = s;
}

void kmm__idle_remove(kmm__spill_t *p, kmm__sheet_t *s)
{
    *(s->previous ? &s->previous->next : &p->idle_head) = s->next;
    *(s->next ? &s->next->previous : &p->idle_tail) = s->previous;
    s->previous = s->next = NULL;
}

void kmm__sheet_pin(kmm__spill_t *p, kmm__sheet_t *s)
{
    if (s->pins++ == 0 && s->state == KMM__SHEET_RESIDENT)
        kmm__idle_remove(p, s);
}

void kmm__sheet_unpin(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->used = ++p->clock;
    if (--s->pins == 0 && s->state == KMM__SHEET_RESIDENT)
        idle_push(p, s);
    pthread_cond_broadcast(&p->changed);
}

/* Everything that was RESIDENT or on its way there is accounted for in `resident`. */
void kmm__sheet_become_resident(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->stored &= !s->spoiled;
    s->spoiled = false;
    s->state = KMM__SHEET_RESIDENT;
    if (s->pins == 0)
        idle_push(p, s);
    pthread_cond_broadcast(&p->changed);
}

void kmm__sheet_become_absent(kmm__spill_t *p, kmm__sheet_t *s)
{
    s->spoiled = false;
    s->state = KMM__SHEET_ABSENT;
    p->resident -= kmm__sheet_bytes(s);
    pthread_cond_broadcast(&p->changed);
}

void kmm__room_take(kmm__spill_t *p, const kmm__sheet_t *s)
{
    p->resident += kmm__sheet_bytes(s);
    if (p->resident > p->stats.most)
        p->stats.most = p->resident;
}

int kmm__sheet_error(kmm__spill_t *p, const kmm__sheet_t *s, int error)
{
    long long at = (long long)s->slot * (long long)p->sheet_bytes;
    if (error == KMM_E_CORRUPT)
        return kmm__error_set(error,
                              "%s: %llu bytes at byte %lld of the spill file are not what was "
                              "written there (checksum)",
                              kmm__disk_folder(p->disk), (unsigned long long)kmm__sheet_bytes(s),
                              at);
    return kmm__error_set(
        KMM_E_IO, "%s: %llu bytes at byte %lld of the spill file could not be read: %s",
        kmm__disk_folder(p->disk), (unsigned long long)kmm__sheet_bytes(s), at, strerror(error));
}

/* Until the sheet is in memory; errors are those of the read. */
int kmm__sheet_await(kmm__spill_t *p, kmm__sheet_t *s)
{
    while (s->state == KMM__SHEET_READING)
        pthread_cond_wait(&p->changed, &p->runtime->lock);
    return s->state == KMM__SHEET_RESIDENT ? 0 : kmm__sheet_error(p, s, s->error);
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

/* Gives the slots of sheets back, neighbours together. Called locked, unlocks meanwhile. */
static void slots_give(kmm__spill_t *p, kmm__array_t *a)
{
    pthread_mutex_unlock(&p->runtime->lock);
    for (uint32_t k = 0, n; k < a->sheet_count; k += n) {
        int64_t first = a->sheets[k].slot;
        for (n = 1; first >= 0 && k + n < a->sheet_count && a->sheets[k + n].slot == first + n;)
            n++;
        if (first >= 0)
            kmm__disk_discard(p->disk, first * (int64_t)p->sheet_bytes, n * p->sheet_bytes);
    }
    pthread_mutex_lock(&p->runtime->lock);
    for (uint32_t k = a->sheet_count; k-- > 0;)
        if (a->sheets[k].slot >= 0)
            slot_give(p, a->sheets[k].slot);
}

/* ---- Arrays ---- */

void kmm__spill_array(kmm__array_t *a)
{
    kmm__spill_t *p = a->runtime->memory->spill;
    if (!p || a->is_mapped || a->object.is_abstract)
        return;
    a->sheet_count = (uint32_t)((a->bytes + p->sheet_bytes - 1) / p->sheet_bytes);
    a->sheet_bytes = p->sheet_bytes;
    a->sheets = kmm__alloc(a->sheet_count * sizeof(*a->sheets));
    for (uint32_t k = 0; k < a->sheet_count; k++)
        a->sheets[k] = (kmm__sheet_t){.array = a, .index = k, .slot = -1};
}

void kmm__spill_array_dead(kmm__array_t *a)
{
    kmm__spill_t *p = a->runtime->memory->spill;
    for (uint32_t k = 0; a->sheets && k < a->sheet_count; k++) {
        kmm__sheet_t *s = &a->sheets[k];
        if (s->state != KMM__SHEET_RESIDENT || s->pins)
            continue;
        kmm__idle_remove(p, s);
        idle_push_front(p, s);
    }
    if (a->sheets)
        pthread_cond_broadcast(&p->changed);
}

void kmm__spill_forget(kmm__array_t *a)
{
    kmm__spill_t *p = a->runtime->memory->spill;
    if (!a->sheets)
        return;
    for (uint32_t k = 0; k < a->sheet_count; k++) {
        kmm__sheet_t *s = &a->sheets[k];
        while (s->state == KMM__SHEET_LEAVING || s->state == KMM__SHEET_READING || s->slot_readers)
            pthread_cond_wait(&p->changed, &p->runtime->lock);
        if (s->state != KMM__SHEET_RESIDENT)
            continue;
        kmm__idle_remove(p, s);
        kmm__sheet_become_absent(p, s);
    }
    slots_give(p, a);
    free(a->sheets);
    a->sheets = NULL;
    a->sheet_count = 0;
}

uint64_t kmm__spill_room(const kmm_runtime_t *rt)
{
    return rt->memory->spill ? rt->memory->spill->limit : 0;
}

uint64_t kmm__spill_sheet_bytes(const kmm_runtime_t *rt)
{
    return rt->memory->spill ? rt->memory->spill->sheet_bytes : 0;
}
