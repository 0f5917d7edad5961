/* SPDX-License-Identifier: Apache-2.0 */
/* The check of what plain functions store to memory that chunks share. */
#include "execute/exact_global.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/api.h"
#include "base/error.h"
#include "base/running.h"
#include "base/spin.h"
#include "execute/exact_clock.h"
#include "execute/exact_early.h"
#include "execute/exact_heap.h"
#include "execute/exact_line.h"
#include "execute/exact_memory.h"
#include "execute/shadow.h"

enum { PAGE = 4096, WORD = 8, FEW = 16, SHARES = 8 };

/* Flags of a byte. */
enum {
    STORED = 1,  /* a store to it has begun */
    LEFT = 2,    /* `left` is known */
    SEVERAL = 4, /* stores have left several values */
    LOOSE = 8,   /* a store to it has no order with another chunk's store or load */
    SAID = 16    /* a message has named its memory, or its variable is left alone */
};

/* What is known of the bytes of one page. */
typedef struct page {
    uintptr_t begin;
    unsigned char flags[PAGE];
    unsigned char left[PAGE];   /* what a store has left in it */
    unsigned char before[PAGE]; /* what was there before the first store */
    uint16_t place[PAGE];       /* of the clock of the chunk that stored last */
    uint32_t time[PAGE];        /* of that chunk then */
    const void *pc[PAGE / WORD];
} page_t;

/* A hash table by `begin`, half of it empty at least. */
typedef struct pages {
    page_t **at;
    uint32_t count, slots;
} pages_t;

/* What the chunks of a launch have stored. */
struct kmm__work_globals {
    pthread_mutex_t lock; /* guards all of this; the runtime's lock may be taken within */
    kmm__clocks_t *clocks;
    kmm__earlies_t *earlies;
    uint32_t ended; /* number of chunks that are done */
    pages_t pages;
    const void *said[FEW]; /* instructions that a message has named */
    uint32_t said_count;
};

/* The thread that runs the chunk has it to itself. */
struct kmm__globals {
    struct kmm__work_globals *all;
    kmm__clock_t clock;
    kmm__reachable_t memory;
    pages_t pages;    /* those of the launch that the chunk has touched */
    page_t *last;     /* the page that was touched last */
    uintptr_t stored; /* the last store, whose value is not noted yet */
    size_t stored_bytes;
    int onces;                  /* that the chunk is in */
    const void *shares[SHARES]; /* locks that it has taken as a reader; NULL: none */
    /* The chunk has used a fence: any atomic operation may be part of one. The variable that it has
     * loaded last without an order, which the next fence orders. */
    bool fences;
    const void *loaded;
    bool is_busy; /* the thread is in this file */
};

/* ---- Begin and end ---- */

/* Locked. */
static struct kmm__work_globals *work_globals(kmm__work_t *w)
{
    if (w->globals)
        return w->globals;
    w->globals = kmm__work_take(w, sizeof(*w->globals));
    pthread_mutex_init(&w->globals->lock, NULL);
    w->globals->clocks = kmm__clocks_make(w);
    w->globals->earlies = kmm__earlies_make(w);
    return w->globals;
}

void kmm__exact_globals_open(kmm__check_t *c)
{
    kmm__work_t *w = c->task->work;
    if (!w->function || w->chunk_count < 2)
        return;
    kmm__globals_t *g = kmm__alloc(sizeof(*g));
    pthread_mutex_lock(&w->runtime->lock);
    g->all = work_globals(w);
    pthread_mutex_unlock(&w->runtime->lock);
    pthread_mutex_lock(&g->all->lock);
    kmm__clock_open(g->all->clocks, &g->clock);
    pthread_mutex_unlock(&g->all->lock);
    kmm__reachable_open(&g->memory);
    c->globals = g;
}

void kmm__exact_globals_close(kmm__check_t *c)
{
    kmm__globals_t *g = c->globals;
    if (!g)
        return;
    c->globals = NULL;
    kmm__clock_close(&g->clock);
    free(g->pages.at);
    kmm__reachable_close(&g->memory);
    free(g);
}

static const kmm__check_t *running_check(void)
{
    const kmm__running_t *r = kmm__running;
    return r && r->count ? r->tasks[0]->issue.check : NULL;
}

/* NULL: nothing is checked. Otherwise the launch's lock is taken, until `leave`. */
static kmm__globals_t *enter(kmm__globals_t *g)
{
    if (!g || g->is_busy)
        return NULL;
    g->is_busy = true;
    kmm__spin_lock(&g->all->lock);
    return g;
}

static void leave(kmm__globals_t *g)
{
    pthread_mutex_unlock(&g->all->lock);
    g->is_busy = false;
}

/* ---- Pages ---- */

static page_t **slot_of(const pages_t *p, uintptr_t begin)
{
    uint32_t k = (uint32_t)(begin / PAGE * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (p->slots - 1);
    while (p->at[k] && p->at[k]->begin != begin)
        k = (k + 1) & (p->slots - 1);
    return &p->at[k];
}

static page_t *find_page(const pages_t *p, uintptr_t begin)
{
    return p->slots ? *slot_of(p, begin) : NULL;
}

/* Memory of a launch lives as long as its work. */
static void *take(kmm__work_t *w, size_t bytes)
{
    pthread_mutex_lock(&w->runtime->lock);
    void *block = kmm__work_take(w, bytes);
    pthread_mutex_unlock(&w->runtime->lock);
    return block;
}

/* `w` NULL: the table is a chunk's. */
static void add_page(pages_t *p, page_t *page, kmm__work_t *w)
{
    if (2 * p->count >= p->slots) {
        pages_t more = {.slots = p->slots ? 2 * p->slots : FEW, .count = p->count};
        size_t bytes = more.slots * sizeof(*more.at);
        more.at = w ? take(w, bytes) : kmm__alloc(bytes);
        for (uint32_t k = 0; k < p->slots; k++)
            if (p->at[k])
                *slot_of(&more, p->at[k]->begin) = p->at[k];
        if (!w)
            free(p->at);
        *p = more;
    }
    *slot_of(p, page->begin) = page;
    p->count++;
}

/* The page of an address. NULL: no chunk has stored there, and `w` is NULL. */
static page_t *page_of(kmm__globals_t *g, uintptr_t address, kmm__work_t *w)
{
    uintptr_t begin = address & ~(uintptr_t)(PAGE - 1);
    if (g->last && g->last->begin == begin)
        return g->last;
    page_t *p = find_page(&g->pages, begin);
    if (!p) {
        p = find_page(&g->all->pages, begin);
        if (!p && !w)
            return NULL;
        if (!p) {
            p = take(w, sizeof(*p));
            p->begin = begin;
            add_page(&g->all->pages, p, w);
        }
        add_page(&g->pages, p, NULL);
    }
    return g->last = p;
}

/* ---- Stores and loads ---- */

/* Other threads may store to the byte meanwhile. */
static unsigned char value_at(uintptr_t address)
{
    return __atomic_load_n((const unsigned char *)address, __ATOMIC_RELAXED);
}

/* Notes what the chunk's last store has left. */
static void note_values(kmm__globals_t *g)
{
    for (uintptr_t at = g->stored; at < g->stored + g->stored_bytes; at++) {
        page_t *p = page_of(g, at, NULL);
        uintptr_t k = at % PAGE;
        if (!p || !(p->flags[k] & STORED))
            continue;
        unsigned char value = value_at(at);
        if (!(p->flags[k] & LEFT))
            p->left[k] = value;
        else if (p->left[k] != value)
            p->flags[k] |= SEVERAL;
        p->flags[k] |= LEFT;
    }
    g->stored_bytes = 0;
}

/* True if an access of the chunk has an order with the last store to the byte. */
static bool is_ordered(const kmm__globals_t *g, const page_t *p, uintptr_t k)
{
    return !(p->flags[k] & STORED) || kmm__clock_knows(&g->clock, p->place[k], p->time[k]);
}

static void note_store(kmm__globals_t *g, page_t *p, uintptr_t k, const void *pc)
{
    bool is_first = !(p->flags[k] & STORED);
    kmm__early_store(g->all->earlies, &g->clock, p->begin + k, is_first);
    if (is_first)
        p->before[k] = value_at(p->begin + k);
    bool loose = !(p->flags[k] & LOOSE) && !is_ordered(g, p, k);
    if (loose || !p->pc[k / WORD])
        p->pc[k / WORD] = pc;
    p->flags[k] |= (unsigned char)(STORED | (loose ? LOOSE : 0));
    p->place[k] = g->clock.place;
    p->time[k] = kmm__clock_time(&g->clock);
}

/* `p` NULL: nothing was stored to the page yet. */
static void note_load(kmm__globals_t *g, page_t *p, uintptr_t at)
{
    const uintptr_t k = at % PAGE;
    if (!p || !(p->flags[k] & STORED))
        kmm__early_load(g->all->earlies, &g->clock, at);
    else if (is_ordered(g, p, k))
        kmm__early_settle(g->all->earlies, &g->clock, at);
    else
        p->flags[k] |= LOOSE;
}

void kmm__exact_global_access(kmm__check_t *c, uintptr_t address, size_t bytes, bool stores,
                              const void *pc)
{
    if (!c->globals || !kmm__reachable_is_shared(&c->globals->memory, address))
        return;
    kmm__globals_t *g = enter(c->globals);
    if (!g)
        return;
    note_values(g);
    for (uintptr_t at = address; at < address + bytes; at++) {
        page_t *p = page_of(g, at, stores ? c->task->work : NULL);
        if (stores)
            note_store(g, p, at % PAGE, pc);
        else
            note_load(g, p, at);
    }
    if (stores) {
        g->stored = address;
        g->stored_bytes = bytes;
    }
    leave(g);
}

/* ---- Locks and atomic operations ---- */

static void turn(kmm__globals_t *g, const void *address, int what)
{
    note_values(g);
    kmm__clock_turn(g->all->clocks, &g->clock, (uintptr_t)address, what);
}

/* Forgets that the chunk has the lock as a reader. False: it has not. */
static bool drop_share(kmm__globals_t *g, const void *lock)
{
    int k = 0;
    while (k < SHARES && g->shares[k] != lock)
        k++;
    if (k < SHARES)
        g->shares[k] = NULL;
    return k < SHARES;
}

/* Readers have no order with each other: what they release, only a writer acquires. That has an
 * address of its own, of the lock's second byte. */
static void change(kmm__globals_t *g, const void *lock, kmm__lock_change_t how)
{
    const void *readers = (const void *)((uintptr_t)lock + 1);
    int k = 0;
    switch (how) {
    case KMM__LOCK_TAKE:
        turn(g, lock, KMM__CLOCK_ACQUIRE);
        turn(g, readers, KMM__CLOCK_ACQUIRE);
        break;
    case KMM__LOCK_SHARE:
        while (k < SHARES && g->shares[k])
            k++;
        if (k < SHARES)
            g->shares[k] = lock;
        turn(g, lock, KMM__CLOCK_ACQUIRE);
        break;
    case KMM__LOCK_RELEASE:
        turn(g, lock && drop_share(g, lock) ? readers : lock, KMM__CLOCK_RELEASE);
        break;
    }
}

static kmm__globals_t *running_globals(void)
{
    const kmm__check_t *c = running_check();
    return c ? c->globals : NULL;
}

KMM__API void kmm__exact_lock(const void *lock, kmm__lock_change_t how)
{
    kmm__globals_t *g = enter(running_globals());
    if (!g)
        return;
    change(g, lock, how);
    leave(g);
}

KMM__API void kmm__exact_once(const void *once, int by)
{
    kmm__globals_t *g = enter(running_globals());
    if (!g)
        return;
    g->onces = by < 0 ? g->onces - (g->onces > 0) : g->onces + by;
    turn(g, once, by < 0 ? KMM__CLOCK_ACQUIRE | KMM__CLOCK_RELEASE : KMM__CLOCK_ACQUIRE);
    leave(g);
}

/* True if it is in the copy of an array, of which each chunk has one. */
static bool is_copy(const kmm__check_t *c, uintptr_t address)
{
    for (uint32_t k = 0; k < c->count; k++)
        if (address - (uintptr_t)c->shadows[k].work < c->shadows[k].size)
            return true;
    return false;
}

KMM__API bool kmm__exact_turn_begin(const void *address)
{
    const kmm__check_t *c = running_check();
    return c && c->globals && kmm__reachable_is_shared(&c->globals->memory, (uintptr_t)address) &&
           !is_copy(c, (uintptr_t)address) && enter(c->globals);
}

KMM__API void kmm__exact_turn_end(const void *address, int order, bool loads, bool stores)
{
    kmm__globals_t *g = running_globals();
    int o = order & 0xFF;
    bool all = g->fences && o == __ATOMIC_RELAXED;
    int what =
        loads && (all || (o != __ATOMIC_RELAXED && o != __ATOMIC_RELEASE)) ? KMM__CLOCK_ACQUIRE : 0;
    if (stores && (all || o == __ATOMIC_RELEASE || o == __ATOMIC_ACQ_REL || o == __ATOMIC_SEQ_CST))
        what |= KMM__CLOCK_RELEASE;
    if (what)
        turn(g, address, what);
    if (loads)
        g->loaded = address;
    leave(g);
}

KMM__API void kmm__exact_fence(void)
{
    kmm__globals_t *g = enter(running_globals());
    if (!g)
        return;
    g->fences = true;
    if (g->loaded)
        turn(g, g->loaded, KMM__CLOCK_ACQUIRE);
    leave(g);
}

/* ---- The heap ---- */

static atomic_bool has_taken;

KMM__API void kmm__exact_heap_begin(bool is_told)
{
    if (is_told)
        kmm__reachable_know_heap();
}

KMM__API void kmm__exact_took(const void *block, size_t bytes)
{
    kmm__globals_t *g = running_globals();
    if (!g || g->is_busy)
        return;
    g->is_busy = true;
    atomic_store(&has_taken, true);
    kmm__exact_heap_set((uintptr_t)block, bytes,
                        g->onces ? KMM__HEAP_ONCE : kmm__exact_heap_self());
    g->is_busy = false;
}

/* Forgets what was stored to memory that the chunk releases: who gets it later shares nothing. */
static void forget(page_t *p, uintptr_t begin, uintptr_t end)
{
    for (uintptr_t at = p->begin > begin ? p->begin : begin; at < p->begin + PAGE && at < end; at++)
        if ((p->flags[at % PAGE] & (LOOSE | SEVERAL)) != (LOOSE | SEVERAL))
            p->flags[at % PAGE] = 0;
}

static void forget_block(kmm__globals_t *g, uintptr_t begin, uintptr_t end)
{
    note_values(g);
    if ((end - begin) / PAGE > g->pages.slots) {
        for (uint32_t k = 0; k < g->pages.slots; k++)
            if (g->pages.at[k])
                forget(g->pages.at[k], begin, end);
        return;
    }
    for (uintptr_t at = begin & ~(uintptr_t)(PAGE - 1); at < end; at += PAGE) {
        page_t *p = find_page(&g->pages, at);
        if (p)
            forget(p, begin, end);
    }
}

KMM__API void kmm__exact_leaves(const void *block, size_t bytes)
{
    kmm__globals_t *g = running_globals();
    if (g && g->is_busy)
        return;
    if (g && g->pages.count) {
        enter(g);
        forget_block(g, (uintptr_t)block, (uintptr_t)block + bytes);
        leave(g);
    }
    if (!atomic_load_explicit(&has_taken, memory_order_relaxed))
        return;
    if (g)
        g->is_busy = true;
    kmm__exact_heap_set((uintptr_t)block, bytes, KMM__HEAP_NOBODY);
    if (g)
        g->is_busy = false;
}

/* ---- The end of the chunk ---- */

/* A wrong byte. */
typedef struct wrong {
    page_t *page;
    uintptr_t at;
    const void *pc;
    bool is_other; /* another chunk has stored it last */
} wrong_t;

/* True if what a chunk has loaded from the byte before the first store is a matter of chance. */
static bool is_early(const kmm__globals_t *g, const page_t *p, uintptr_t k)
{
    return (p->flags[k] & LEFT) && !(p->flags[k] & SAID) && p->before[k] != p->left[k] &&
           kmm__early_is_loose(g->all->earlies, p->begin + k);
}

/* False: there is none of which nothing was said yet. The last chunk looks at all pages. */
static bool find_wrong(const kmm__globals_t *g, bool is_last, wrong_t *w)
{
    const pages_t *pages = is_last ? &g->all->pages : &g->pages;
    for (uint32_t n = 0; n < pages->slots; n++) {
        page_t *p = pages->at[n];
        for (uintptr_t k = 0; p && k < PAGE; k++) {
            if ((p->flags[k] & (LOOSE | SEVERAL | SAID)) != (LOOSE | SEVERAL) &&
                !(is_last && is_early(g, p, k)))
                continue;
            *w = (wrong_t){p, p->begin + k, p->pc[k / WORD], p->place[k] != g->clock.place};
            return true;
        }
    }
    return false;
}

/* Marks memory of which a message speaks. */
static void mark_said(const kmm__globals_t *g, uintptr_t begin, uintptr_t end)
{
    for (uint32_t n = 0; n < g->all->pages.slots; n++) {
        page_t *p = g->all->pages.at[n];
        uintptr_t at = p && begin > p->begin ? begin - p->begin : 0;
        for (uintptr_t k = at; p && k < PAGE && p->begin + k < end; k++)
            p->flags[k] |= SAID;
    }
}

/* One message for each instruction. */
static bool is_said(struct kmm__work_globals *all, const void *pc)
{
    for (uint32_t k = 0; k < all->said_count; k++)
        if (all->said[k] == pc)
            return true;
    if (all->said_count == FEW)
        return true;
    all->said[all->said_count++] = pc;
    return false;
}

/* Variables of kmm's own headers, and counters that a compiler adds. */
static bool is_left_alone(const kmm__variable_t *v)
{
    const char *name = v->name + (*v->name == '\'');
    static const char *const begins[] = {"kmm_", "__gcov", "__llvm_", "guard variable"};
    for (size_t k = 0; k < sizeof(begins) / sizeof(*begins); k++)
        if (!strncmp(name, begins[k], strlen(begins[k])))
            return true;
    return false;
}

static void say(kmm__check_t *c, const wrong_t *wrong, const char *memory)
{
    kmm__task_t *t = c->task;
    char where[320], line[256];
    kmm__exact_line(wrong->pc, line, sizeof(line));
    pthread_mutex_lock(&t->runtime->lock);
    kmm__task_describe(t, where, sizeof(where));
    fprintf(stderr,
            "kmm: error: %s: %s: %s chunk stores to %s, which all chunks share, and they run at "
            "once and in any order; make it a parameter that a clause names, or atomic\n",
            where, line, wrong->is_other ? "another" : "the", memory);
    kmm__task_fail(t, KMM_E_ACCESS);
    kmm__error_note(t->runtime, KMM_E_ACCESS,
                    "%s: the chunk changes %s, as -fkmm-check has said on standard error", where,
                    memory);
    pthread_mutex_unlock(&t->runtime->lock);
}

/* The launch's lock is not held while a message is made. */
static void report(kmm__check_t *c, const wrong_t *wrong)
{
    kmm__globals_t *g = c->globals;
    kmm__variable_t v = {.begin = wrong->at, .end = wrong->at + 1};
    char text[256];
    bool is_global = kmm__reachable_is_variable(&g->memory, wrong->at), first;
    if (is_global)
        kmm__exact_variable(wrong->at, &v);
    else
        kmm__reachable_text(wrong->at, text, sizeof(text));
    enter(g);
    first = !(wrong->page->flags[wrong->at % PAGE] & SAID);
    mark_said(g, v.begin, v.end);
    if (!is_global)
        first = first && !is_said(g->all, wrong->pc);
    leave(g);
    if (is_global)
        snprintf(text, sizeof(text), "the global variable %s", v.name);
    if (first && !(is_global && is_left_alone(&v)))
        say(c, wrong, text);
}

void kmm__exact_globals_report(kmm__check_t *c)
{
    kmm__globals_t *g = c->globals;
    wrong_t wrong;
    bool is_last = false;
    if (g) {
        enter(g);
        is_last = ++g->all->ended == c->task->work->chunk_count;
        leave(g);
    }
    for (bool found = g != NULL; found;) {
        enter(g);
        note_values(g);
        found = find_wrong(g, is_last, &wrong);
        leave(g);
        if (found)
            report(c, &wrong);
    }
}
