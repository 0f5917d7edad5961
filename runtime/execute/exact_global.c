/* SPDX-License-Identifier: Apache-2.0 */
/* The check of what plain functions store to memory that chunks share. */
#include "execute/exact_global.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/api.h"
#include "base/error.h"
#include "base/log.h"
#include "base/running.h"
#include "base/spin.h"
#include "execute/exact_clock.h"
#include "execute/exact_early.h"
#include "execute/exact_heap.h"
#include "execute/exact_line.h"
#include "execute/exact_memory.h"
#include "execute/exact_page.h"
#include "execute/exact_released.h"
#include "execute/shadow.h"

enum { FEW = 16, SHARES = 8 };

/* What the chunks of a launch have stored. */
struct kmm__work_globals {
    pthread_mutex_t lock; /* guards all of this; the runtime's lock may be taken within */
    kmm__clocks_t *clocks;
    kmm__earlies_t *earlies;
    kmm__released_t *released; /* what other threads have released */
    uint32_t ended;            /* number of chunks that are done */
    kmm__pages_t pages;
    const void *said[FEW]; /* instructions that a message has named */
    uint32_t said_count;
};

/* The thread that runs the chunk has it to itself. */
struct kmm__globals {
    struct kmm__work_globals *all;
    kmm__clock_t clock;
    kmm__reachable_t memory;
    kmm__pages_t pages; /* those of the launch that the chunk has touched */
    kmm__page_t *last;  /* the page that was touched last */
    uintptr_t stored;   /* the last store, whose value is not noted yet */
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
    w->globals->released = kmm__released_make(w);
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
    kmm__reachable_open(&g->memory);
    for (uint32_t k = 0; k < g->memory.stack_count; k++) /* of earlier chunks of the thread */
        kmm__clock_forget(g->all->clocks, g->memory.own.at[k].begin, g->memory.own.at[k].end);
    pthread_mutex_unlock(&g->all->lock);
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

/* Who gets released memory later shares nothing with those who have used it before. */
static void forget(struct kmm__work_globals *all, uintptr_t begin, uintptr_t end)
{
    kmm__page_forget(&all->pages, begin, end);
    kmm__early_forget(all->earlies, begin, end);
    kmm__clock_forget(all->clocks, begin, end);
}

/* NULL: nothing is checked. Otherwise the launch's lock is taken, until `leave`. */
static kmm__globals_t *enter(kmm__globals_t *g)
{
    if (!g || g->is_busy)
        return NULL;
    g->is_busy = true;
    kmm__spin_lock(&g->all->lock);
    for (uintptr_t begin, end; kmm__released_next(g->all->released, &begin, &end);)
        forget(g->all, begin, end);
    return g;
}

static void leave(kmm__globals_t *g)
{
    pthread_mutex_unlock(&g->all->lock);
    g->is_busy = false;
}

/* ---- Pages ---- */

/* The page of an address. NULL: no chunk has stored there, and `w` is NULL. */
static kmm__page_t *page_of(kmm__globals_t *g, uintptr_t address, kmm__work_t *w)
{
    uintptr_t begin = address & ~(uintptr_t)(KMM__PAGE - 1);
    if (g->last && g->last->begin == begin)
        return g->last;
    kmm__page_t *p = kmm__page_find(&g->pages, begin);
    if (!p) {
        p = kmm__page_find(&g->all->pages, begin);
        if (!p && !w)
            return NULL;
        if (!p) {
            p = kmm__page_take(w, sizeof(*p));
            p->begin = begin;
            kmm__page_add(&g->all->pages, p, w);
        }
        kmm__page_add(&g->pages, p, NULL);
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
        kmm__page_t *p = page_of(g, at, NULL);
        uintptr_t k = at % KMM__PAGE;
        if (!p || !(p->flags[k] & KMM__BYTE_STORED))
            continue;
        unsigned char value = value_at(at);
        if (!(p->flags[k] & KMM__BYTE_LEFT))
            p->left[k] = value;
        else if (p->left[k] != value)
            p->flags[k] |= KMM__BYTE_SEVERAL;
        p->flags[k] |= KMM__BYTE_LEFT;
    }
    g->stored_bytes = 0;
}

/* True if an access of the chunk has an order with the last store to the byte. */
static bool is_ordered(const kmm__globals_t *g, const kmm__page_t *p, uintptr_t k)
{
    return !(p->flags[k] & KMM__BYTE_STORED) ||
           kmm__clock_knows(&g->clock, p->place[k], p->time[k]);
}

static void note_store(kmm__globals_t *g, kmm__page_t *p, uintptr_t k, const void *pc)
{
    bool is_first = !(p->flags[k] & KMM__BYTE_STORED);
    kmm__early_store(g->all->earlies, &g->clock, p->begin + k, is_first);
    if (is_first)
        p->before[k] = value_at(p->begin + k);
    bool loose = !(p->flags[k] & KMM__BYTE_LOOSE) && !is_ordered(g, p, k);
    if (loose || !p->pc[k / KMM__PAGE_WORD])
        p->pc[k / KMM__PAGE_WORD] = pc;
    p->flags[k] |= (unsigned char)(KMM__BYTE_STORED | (loose ? KMM__BYTE_LOOSE : 0));
    p->place[k] = g->clock.place;
    p->time[k] = kmm__clock_time(&g->clock);
}

/* `p` NULL: nothing was stored to the page yet. */
static void note_load(kmm__globals_t *g, kmm__page_t *p, uintptr_t at)
{
    const uintptr_t k = at % KMM__PAGE;
    if (!p || !(p->flags[k] & KMM__BYTE_STORED))
        kmm__early_load(g->all->earlies, &g->clock, at);
    else if (is_ordered(g, p, k))
        kmm__early_settle(g->all->earlies, &g->clock, at);
    else
        p->flags[k] |= KMM__BYTE_LOOSE;
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
    if (kmm__reachable_has_heap())
        kmm__exact_heap_use(address, bytes);
    for (uintptr_t at = address; at < address + bytes; at++) {
        kmm__page_t *p = page_of(g, at, stores ? c->task->work : NULL);
        if (stores)
            note_store(g, p, at % KMM__PAGE, pc);
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
    return c && c->globals && !is_copy(c, (uintptr_t)address) && enter(c->globals);
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
    kmm__exact_heap_set((uintptr_t)block, bytes,
                        g->onces ? KMM__HEAP_ONCE : kmm__exact_heap_self());
    g->is_busy = false;
}

KMM__API void kmm__exact_leaves(const void *block, size_t bytes)
{
    const uintptr_t begin = (uintptr_t)block;
    kmm__globals_t *g = running_globals();
    if (g && g->is_busy)
        return;
    if (g && __atomic_load_n(&g->all->pages.count, __ATOMIC_RELAXED)) {
        enter(g);
        note_values(g);
        forget(g->all, begin, begin + bytes);
        leave(g);
    }
    if (!kmm__exact_heap_knows(begin, bytes))
        return;
    if (g)
        g->is_busy = true;
    kmm__released_note(g ? g->all->released : NULL, begin, begin + bytes);
    kmm__exact_heap_set(begin, bytes, KMM__HEAP_NOBODY);
    if (g)
        g->is_busy = false;
}

/* ---- The end of the chunk ---- */

/* A wrong byte, and where it was found. */
typedef struct wrong {
    uint32_t slot;
    kmm__page_t *page;
    uintptr_t at;
    const void *pc;
    bool is_other; /* another chunk has stored it last */
} wrong_t;

/* True if what a chunk has loaded from the byte before the first store is a matter of chance. */
static bool is_early(const kmm__globals_t *g, const kmm__page_t *p, uintptr_t k)
{
    return (p->flags[k] & KMM__BYTE_LEFT) && !(p->flags[k] & KMM__BYTE_SAID) &&
           p->before[k] != p->left[k] && kmm__early_is_loose(g->all->earlies, p->begin + k);
}

/* Finds the next one of which nothing was said yet, behind *w. False: there is none. The last chunk
 * looks at all pages. The tables do not change meanwhile. */
static bool find_wrong(const kmm__globals_t *g, bool is_last, wrong_t *w)
{
    const kmm__pages_t *pages = is_last ? &g->all->pages : &g->pages;
    uintptr_t first = w->page ? w->at % KMM__PAGE + 1 : 0;
    for (uint32_t n = w->slot; n < pages->slots; n++, first = 0) {
        kmm__page_t *p = pages->at[n];
        for (uintptr_t k = first; p && k < KMM__PAGE; k++) {
            if ((p->flags[k] & (KMM__BYTE_LOOSE | KMM__BYTE_SEVERAL | KMM__BYTE_SAID)) !=
                    (KMM__BYTE_LOOSE | KMM__BYTE_SEVERAL) &&
                !(is_last && is_early(g, p, k)))
                continue;
            *w = (wrong_t){n, p, p->begin + k, p->pc[k / KMM__PAGE_WORD],
                           p->place[k] != g->clock.place};
            return true;
        }
    }
    return false;
}

/* Marks memory of which a message speaks. */
static void mark_said(const kmm__globals_t *g, uintptr_t begin, uintptr_t end)
{
    for (uintptr_t at = begin; at < end;) {
        kmm__page_t *p = kmm__page_find(&g->all->pages, at & ~(uintptr_t)(KMM__PAGE - 1));
        const uintptr_t next = (at | (KMM__PAGE - 1)) + 1;
        for (; p && at < next && at < end; at++)
            p->flags[at % KMM__PAGE] |= KMM__BYTE_SAID;
        at = next;
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
    kmm__log(KMM__LOG_ERROR,
             "%s: %s: %s chunk stores to %s, which all chunks share, and they run at once and in "
             "any order; make it a parameter that a clause names, or atomic",
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
    enter(g);
    first = !(wrong->page->flags[wrong->at % KMM__PAGE] & KMM__BYTE_SAID);
    mark_said(g, v.begin, v.end);
    if (!is_global)
        first = first && !is_said(g->all, wrong->pc);
    leave(g);
    if (is_global)
        snprintf(text, sizeof(text), "the global variable %s", v.name);
    else if (first)
        kmm__reachable_text(wrong->at, text, sizeof(text));
    if (first && !(is_global && is_left_alone(&v)))
        say(c, wrong, text);
}

void kmm__exact_globals_report(kmm__check_t *c)
{
    kmm__globals_t *g = c->globals;
    wrong_t wrong = {.slot = 0};
    bool is_last = false;
    if (g) {
        enter(g);
        is_last = ++g->all->ended == c->task->work->chunk_count;
        note_values(g);
        leave(g);
    }
    for (bool found = g != NULL; found;) {
        enter(g);
        found = find_wrong(g, is_last, &wrong);
        leave(g);
        if (found)
            report(c, &wrong);
    }
}
