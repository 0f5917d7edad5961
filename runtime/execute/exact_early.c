/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of shared memory before the launch's first store there. */
#include "execute/exact_early.h"

#include "task/work.h"

enum { PAGE = 4096, WORD = 8, READERS = 2, SLOTS = 8192, MOST = SLOTS / 2 };

/* A chunk that has loaded bytes of a word. */
typedef struct reader {
    uint16_t place;
    uint8_t bytes; /* a bit for each; 0: there is no reader */
    uint8_t loose; /* those to which another chunk has stored, without an order */
    uint32_t time; /* of the chunk's clock then */
} reader_t;

typedef struct page {
    uintptr_t begin;
    reader_t reader[PAGE / WORD][READERS];
} page_t;

/* A hash table by `begin`, half of it empty at least. */
struct kmm__earlies {
    kmm__work_t *work;
    page_t *at[SLOTS], *last;
    uint32_t count;
};

static void *take(kmm__work_t *w, size_t bytes)
{
    pthread_mutex_lock(&w->runtime->lock);
    void *block = kmm__work_take(w, bytes);
    pthread_mutex_unlock(&w->runtime->lock);
    return block;
}

kmm__earlies_t *kmm__earlies_make(kmm__work_t *w)
{
    kmm__earlies_t *all = kmm__work_take(w, sizeof(*all));
    all->work = w;
    return all;
}

static uint32_t slot_of(const kmm__earlies_t *all, uintptr_t begin)
{
    uint32_t k = (uint32_t)(begin / PAGE * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (SLOTS - 1);
    while (all->at[k] && all->at[k]->begin != begin)
        k = (k + 1) & (SLOTS - 1);
    return k;
}

/* The readers of the word of an address; NULL: there are none, or there is no room. */
static reader_t *readers_of(const kmm__earlies_t *all, uintptr_t address)
{
    page_t *p = all->at[slot_of(all, address & ~(uintptr_t)(PAGE - 1))];
    return p ? p->reader[address % PAGE / WORD] : NULL;
}

static reader_t *make_readers(kmm__earlies_t *all, uintptr_t address)
{
    const uintptr_t begin = address & ~(uintptr_t)(PAGE - 1);
    if (!all->last || all->last->begin != begin) {
        uint32_t k = slot_of(all, begin);
        if (!all->at[k] && all->count == MOST)
            return NULL;
        if (!all->at[k]) {
            all->at[k] = take(all->work, sizeof(page_t));
            all->at[k]->begin = begin;
            all->count++;
        }
        all->last = all->at[k];
    }
    return all->last->reader[address % PAGE / WORD];
}

static uint8_t bit_of(uintptr_t address)
{
    return (uint8_t)(1 << address % WORD);
}

/* The chunk's place among the readers: its own, or one that is free or not needed. NULL: none. */
static reader_t *place_of(reader_t *r, const kmm__clock_t *c)
{
    reader_t *best = NULL;
    for (int k = 0; k < READERS; k++) {
        if (r[k].bytes && r[k].place == c->place)
            return &r[k];
        if (!r[k].loose && (!best || !r[k].bytes))
            best = &r[k];
    }
    return best;
}

void kmm__early_load(kmm__earlies_t *all, const kmm__clock_t *c, uintptr_t address)
{
    reader_t *r = make_readers(all, address), *own = r ? place_of(r, c) : NULL;
    const uint32_t time = kmm__clock_time(c);
    bool is_new = own && (!own->bytes || own->place != c->place);
    if (!own || (!is_new && own->loose && own->time != time))
        return;
    if (is_new || own->time != time)
        *own = (reader_t){.place = c->place, .time = time};
    own->bytes |= bit_of(address);
}

static void drop(reader_t *r, uintptr_t address)
{
    r->bytes &= (uint8_t)~bit_of(address);
    r->loose &= (uint8_t)~bit_of(address);
}

void kmm__early_store(kmm__earlies_t *all, const kmm__clock_t *c, uintptr_t address, bool is_first)
{
    reader_t *r = readers_of(all, address);
    for (int k = 0; r && k < READERS; k++) {
        if (!(r[k].bytes & bit_of(address)))
            continue;
        if (r[k].place == c->place || (is_first && kmm__clock_knows(c, r[k].place, r[k].time)))
            drop(&r[k], address);
        else if (is_first)
            r[k].loose |= bit_of(address);
    }
}

void kmm__early_settle(kmm__earlies_t *all, const kmm__clock_t *c, uintptr_t address)
{
    reader_t *r = readers_of(all, address);
    for (int k = 0; r && k < READERS; k++)
        if (r[k].place == c->place)
            drop(&r[k], address);
}

static void forget_in(page_t *p, uintptr_t begin, uintptr_t end)
{
    uintptr_t at = p->begin > begin ? p->begin : begin;
    for (; at < p->begin + PAGE && at < end; at++)
        for (int k = 0; k < READERS; k++)
            drop(&p->reader[at % PAGE / WORD][k], at);
}

void kmm__early_forget(kmm__earlies_t *all, uintptr_t begin, uintptr_t end)
{
    const uintptr_t first = begin & ~(uintptr_t)(PAGE - 1);
    if (!all->count)
        return;
    if ((end - begin) / PAGE >= SLOTS) {
        for (uint32_t k = 0; k < SLOTS; k++)
            if (all->at[k])
                forget_in(all->at[k], begin, end);
        return;
    }
    for (uintptr_t at = first; at < end; at += PAGE) {
        page_t *p = all->at[slot_of(all, at)];
        if (p)
            forget_in(p, begin, end);
    }
}

bool kmm__early_is_loose(const kmm__earlies_t *all, uintptr_t address)
{
    const reader_t *r = readers_of(all, address);
    return r && ((r[0].loose | r[1].loose) & bit_of(address));
}
