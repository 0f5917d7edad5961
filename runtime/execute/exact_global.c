/* SPDX-License-Identifier: Apache-2.0 */
/* The check of what plain functions store to variables of static storage. */
#include "execute/exact_global.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/api.h"
#include "base/error.h"
#include "base/running.h"
#include "execute/exact_line.h"
#include "execute/shadow.h"

enum { PAGE = 4096, WORD = 8, FEW = 16 };

/* Flags of a byte. */
enum {
    STORED = 1,  /* a store to it has begun */
    LEFT = 2,    /* `after` is known */
    SEVERAL = 4, /* stores have left several values */
    SAID = 8     /* a message has named its variable, or its variable is left alone */
};

/* What is known of the bytes of one page of the program's variables. Of a chunk, or of a launch. */
typedef struct page {
    struct page *next; /* of a launch */
    uintptr_t begin;
    unsigned char flags[PAGE];
    unsigned char before[PAGE]; /* what the byte held before the first store */
    unsigned char after[PAGE];  /* what a store has left in it */
    const void *pc[PAGE / WORD];
} page_t;

typedef struct range {
    uintptr_t begin, end;
} range_t;

/* The thread that runs the chunk has it to itself. */
struct kmm__globals {
    range_t *ranges; /* where variables lie, sorted */
    uint32_t range_count, range_capacity;
    page_t **pages; /* a hash table by `begin`, half of it empty at least */
    uint32_t page_count, slots;
    page_t *last;     /* the page that was stored to last */
    int locks;        /* locks that the chunk holds */
    const void *turn; /* a variable by whose atomic change it may have taken a lock */
    uint64_t free;    /* the value of that variable that releases the lock */
};

/* What the chunks of a launch have stored. Locked. */
struct kmm__work_globals {
    page_t *pages;
};

/* ---- Where variables lie ---- */

static int compare_ranges(const void *a, const void *b)
{
    const range_t *p = a, *q = b;
    return p->begin < q->begin ? -1 : p->begin > q->begin;
}

/* Adds the segments of an object that can be written. libkmm's own are none of the program's. */
static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    static const char own;
    kmm__globals_t *g = arg;
    uint32_t first = g->range_count;
    bool is_own = false;
    (void)size;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr, end = begin + p->p_memsz;
        if (p->p_type != PT_LOAD)
            continue;
        is_own |= (uintptr_t)&own >= begin && (uintptr_t)&own < end;
        if (!(p->p_flags & PF_W))
            continue;
        g->ranges = kmm__grow(g->ranges, g->range_count, &g->range_capacity, sizeof(*g->ranges));
        g->ranges[g->range_count++] = (range_t){begin, end};
    }
    if (is_own)
        g->range_count = first;
    return 0;
}

void kmm__exact_globals_open(kmm__check_t *c)
{
    if (!c->task->work->function || c->task->work->chunk_count < 2)
        return;
    c->globals = kmm__alloc(sizeof(*c->globals));
    dl_iterate_phdr(add_object, c->globals);
    qsort(c->globals->ranges, c->globals->range_count, sizeof(range_t), compare_ranges);
}

void kmm__exact_globals_close(kmm__check_t *c)
{
    kmm__globals_t *g = c->globals;
    if (!g)
        return;
    for (uint32_t k = 0; k < g->slots; k++)
        free(g->pages[k]);
    free(g->pages);
    free(g->ranges);
    free(g);
    c->globals = NULL;
}

/* Streams of the C library, which inline functions such as putc_unlocked store to. */
static bool is_stream(uintptr_t address)
{
    const FILE *const stream[] = {stdin, stdout, stderr};
    for (size_t k = 0; k < sizeof(stream) / sizeof(*stream); k++)
        if (address - (uintptr_t)stream[k] < sizeof(FILE))
            return true;
    return false;
}

static bool is_variable(const kmm__globals_t *g, uintptr_t address)
{
    uint32_t low = 0, high = g->range_count; /* the answer is before `high` */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (g->ranges[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < g->ranges[low - 1].end && !is_stream(address);
}

/* ---- Stores ---- */

static page_t **slot_of(kmm__globals_t *g, uintptr_t begin)
{
    uint32_t k = (uint32_t)(begin / PAGE * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (g->slots - 1);
    while (g->pages[k] && g->pages[k]->begin != begin)
        k = (k + 1) & (g->slots - 1);
    return &g->pages[k];
}

static void grow(kmm__globals_t *g)
{
    page_t **old = g->pages;
    uint32_t count = g->slots;
    g->slots = count ? 2 * count : FEW;
    g->pages = kmm__alloc(g->slots * sizeof(page_t *));
    for (uint32_t k = 0; k < count; k++)
        if (old[k])
            *slot_of(g, old[k]->begin) = old[k];
    free(old);
}

static page_t *page_of(kmm__globals_t *g, uintptr_t address)
{
    uintptr_t begin = address & ~(uintptr_t)(PAGE - 1);
    if (g->last && g->last->begin == begin)
        return g->last;
    if (2 * g->page_count >= g->slots)
        grow(g);
    page_t **at = slot_of(g, begin);
    if (!*at) {
        *at = kmm__alloc(sizeof(page_t));
        (*at)->begin = begin;
        g->page_count++;
    }
    return g->last = *at;
}

/* Other threads may store to the byte meanwhile. */
static unsigned char value_at(uintptr_t address)
{
    return __atomic_load_n((const unsigned char *)address, __ATOMIC_RELAXED);
}

/* Notes what the chunk's store to a byte has left there. */
static void note_value(page_t *p, uintptr_t k)
{
    unsigned char value = value_at(p->begin + k);
    if (!(p->flags[k] & LEFT))
        p->after[k] = value;
    else if (p->after[k] != value)
        p->flags[k] |= SEVERAL;
    p->flags[k] |= LEFT;
}

void kmm__exact_global_store(kmm__check_t *c, uintptr_t address, size_t bytes, const void *pc)
{
    kmm__globals_t *g = c->globals;
    if (!g || g->locks > 0 || g->turn || !is_variable(g, address))
        return;
    for (uintptr_t at = address; at < address + bytes; at++) {
        page_t *p = page_of(g, at);
        uintptr_t k = at - p->begin;
        if (p->flags[k] & STORED) {
            note_value(p, k);
            continue;
        }
        p->flags[k] |= STORED;
        p->before[k] = value_at(at);
        if (!p->pc[k / WORD])
            p->pc[k / WORD] = pc;
    }
}

static kmm__globals_t *running_globals(void)
{
    const kmm__running_t *r = kmm__running;
    const kmm__check_t *c = r && r->count ? r->tasks[0]->issue.check : NULL;
    return c ? c->globals : NULL;
}

KMM__API void kmm__exact_lock(int change)
{
    kmm__globals_t *g = running_globals();
    if (g && g->locks + change >= 0)
        g->locks += change;
}

KMM__API void kmm__exact_turn(const void *address, uint64_t from, uint64_t to, bool takes)
{
    kmm__globals_t *g = running_globals();
    if (!g || from == to)
        return;
    if (g->turn == address && to == g->free) {
        g->turn = NULL;
    } else if (!g->turn && takes) {
        g->turn = address;
        g->free = from;
    }
}

/* ---- The end of the chunk ---- */

static page_t *page_of_launch(kmm__work_t *w, uintptr_t begin)
{
    page_t *p = w->globals ? w->globals->pages : NULL;
    while (p && p->begin != begin)
        p = p->next;
    if (p)
        return p;
    if (!w->globals)
        w->globals = kmm__work_take(w, sizeof(*w->globals));
    p = kmm__work_take(w, sizeof(*p));
    memset(p, 0, sizeof(*p));
    p->begin = begin;
    p->next = w->globals->pages;
    return w->globals->pages = p;
}

/* Adds what a chunk has stored to what its launch has. Chunks run at once: so each of them may have
 * found the value from before the launch, or the one that all of them leave. */
static void merge_byte(page_t *all, page_t *p, uintptr_t k)
{
    if (!(all->flags[k] & STORED)) {
        all->before[k] = p->before[k];
        all->after[k] = p->after[k];
    } else if (all->after[k] != p->after[k]) {
        p->flags[k] |= SEVERAL;
    } else if (p->before[k] != all->after[k] && p->before[k] != all->before[k]) {
        if (all->before[k] == all->after[k])
            all->before[k] = p->before[k];
        else
            p->flags[k] |= SEVERAL;
    }
    p->flags[k] |= all->flags[k] & SAID;
    all->flags[k] |= STORED;
}

/* Returns true if some byte of the page is wrong, and nothing was said of it yet. */
static bool merge_page(kmm__work_t *w, page_t *p)
{
    page_t *all = page_of_launch(w, p->begin);
    bool found = false;
    for (uintptr_t k = 0; k < PAGE; k++) {
        if (!(p->flags[k] & STORED))
            continue;
        note_value(p, k);
        merge_byte(all, p, k);
        found |= (p->flags[k] & (SEVERAL | SAID)) == SEVERAL;
    }
    return found;
}

/* Marks the variable as one that a message has named. Returns true if none has before. */
static bool mark_said(kmm__check_t *c, const kmm__variable_t *v)
{
    bool first = true;
    kmm__globals_t *g = c->globals;
    pthread_mutex_lock(&c->task->runtime->lock);
    for (uint32_t n = 0; n < g->slots; n++) {
        page_t *p = g->pages[n];
        uintptr_t at = p && v->begin > p->begin ? v->begin - p->begin : 0;
        if (!p || v->begin >= p->begin + PAGE || v->end <= p->begin)
            continue;
        page_t *all = page_of_launch(c->task->work, p->begin);
        for (uintptr_t k = at; k < PAGE && p->begin + k < v->end; k++) {
            first = first && !(all->flags[k] & SAID);
            all->flags[k] |= SAID;
            p->flags[k] |= SAID;
        }
    }
    pthread_mutex_unlock(&c->task->runtime->lock);
    return first;
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

static void say(kmm__check_t *c, const kmm__variable_t *v, const void *pc)
{
    kmm__task_t *t = c->task;
    char where[320], line[256];
    kmm__exact_line(pc, line, sizeof(line));
    pthread_mutex_lock(&t->runtime->lock);
    kmm__task_describe(t, where, sizeof(where));
    fprintf(stderr,
            "kmm: error: %s: %s: the chunk stores to the global variable %s, which all chunks "
            "share, and they run at once and in any order; make it a parameter that a clause "
            "names, or atomic\n",
            where, line, v->name);
    kmm__task_fail(t, KMM_E_ACCESS);
    kmm__error_note(t->runtime, KMM_E_ACCESS,
                    "%s: the chunk changes the global variable %s, as -fkmm-check has said on "
                    "standard error",
                    where, v->name);
    pthread_mutex_unlock(&t->runtime->lock);
}

static void report_page(kmm__check_t *c, page_t *p)
{
    for (uintptr_t k = 0; k < PAGE; k++) {
        kmm__variable_t v;
        if ((p->flags[k] & (SEVERAL | SAID)) != SEVERAL)
            continue;
        kmm__exact_variable(p->begin + k, &v);
        if (mark_said(c, &v) && !is_left_alone(&v))
            say(c, &v, p->pc[k / WORD]);
    }
}

void kmm__exact_globals_report(kmm__check_t *c)
{
    kmm__globals_t *g = c->globals;
    for (uint32_t n = 0; g && n < g->slots; n++) {
        if (!g->pages[n])
            continue;
        pthread_mutex_lock(&c->task->runtime->lock);
        bool found = merge_page(c->task->work, g->pages[n]);
        pthread_mutex_unlock(&c->task->runtime->lock);
        if (found)
            report_page(c, g->pages[n]);
    }
}
