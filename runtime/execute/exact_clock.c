/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the stores of a launch's chunks. */
#include "execute/exact_clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "task/work.h"

enum { PLACES = 512, FEW = 16, WORD = 4 };

/* What has been released at an address. */
typedef struct release {
    uintptr_t address;
    uint32_t known[];
} release_t;

struct kmm__clocks {
    kmm__work_t *work;
    uint32_t count, next; /* places; chunks that have begun */
    uint32_t *time;       /* of each place */
    release_t **releases; /* a hash table by address, half of it empty at least */
    uint32_t release_count, slots;
};

/* Takes memory that lives as long as the launch. */
static void *take(kmm__work_t *w, size_t bytes)
{
    pthread_mutex_lock(&w->runtime->lock);
    void *block = kmm__work_take(w, bytes);
    pthread_mutex_unlock(&w->runtime->lock);
    return block;
}

kmm__clocks_t *kmm__clocks_make(kmm__work_t *w)
{
    kmm__clocks_t *all = kmm__work_take(w, sizeof(*all));
    all->work = w;
    all->count = w->chunk_count < PLACES ? w->chunk_count : PLACES;
    all->time = kmm__work_take(w, all->count * sizeof(*all->time));
    return all;
}

void kmm__clock_open(kmm__clocks_t *all, kmm__clock_t *c)
{
    c->place = (uint16_t)(all->next++ % all->count);
    c->count = all->count;
    c->known = kmm__alloc(c->count * sizeof(*c->known));
    c->known[c->place] = ++all->time[c->place];
}

void kmm__clock_close(kmm__clock_t *c)
{
    free(c->known);
    c->known = NULL;
}

static uint32_t first_slot(const kmm__clocks_t *all, uintptr_t address)
{
    return (uint32_t)(address / WORD * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (all->slots - 1);
}

static release_t **slot_of(kmm__clocks_t *all, uintptr_t address)
{
    uint32_t k = first_slot(all, address);
    while (all->releases[k] && all->releases[k]->address != address)
        k = (k + 1) & (all->slots - 1);
    return &all->releases[k];
}

static void grow(kmm__clocks_t *all)
{
    release_t **old = all->releases;
    uint32_t count = all->slots;
    all->slots = count ? 2 * count : FEW;
    all->releases = take(all->work, all->slots * sizeof(*all->releases));
    for (uint32_t k = 0; k < count; k++)
        if (old[k])
            *slot_of(all, old[k]->address) = old[k];
}

static void join(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        to[k] = to[k] > from[k] ? to[k] : from[k];
}

static void forget(const kmm__clocks_t *all, release_t *r, uintptr_t begin, uintptr_t end)
{
    if (r->address >= begin && r->address < end)
        memset(r->known, 0, all->count * sizeof(*r->known));
}

void kmm__clock_forget(kmm__clocks_t *all, uintptr_t begin, uintptr_t end)
{
    const uint32_t last = all->slots - 1;
    if (!all->release_count)
        return;
    if ((end - begin) / WORD >= all->slots) {
        for (uint32_t k = 0; k < all->slots; k++)
            if (all->releases[k])
                forget(all, all->releases[k], begin, end);
        return;
    }
    for (uintptr_t at = begin / WORD * WORD; at < end; at += WORD)
        for (uint32_t k = first_slot(all, at); all->releases[k]; k = (k + 1) & last)
            forget(all, all->releases[k], begin, end);
}

void kmm__clock_turn(kmm__clocks_t *all, kmm__clock_t *c, uintptr_t address, int turn)
{
    if (2 * all->release_count >= all->slots)
        grow(all);
    release_t **at = slot_of(all, address);
    if (*at && (turn & KMM__CLOCK_ACQUIRE))
        join(c->known, (*at)->known, c->count);
    if (!(turn & KMM__CLOCK_RELEASE))
        return;
    if (!*at) {
        *at = take(all->work, sizeof(**at) + all->count * sizeof(*(*at)->known));
        (*at)->address = address;
        all->release_count++;
    }
    join((*at)->known, c->known, c->count);
    c->known[c->place] = ++all->time[c->place];
}
