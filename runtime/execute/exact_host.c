/* SPDX-License-Identifier: Apache-2.0 */
/* The check of what the host does to mapped memory. */
#include "execute/exact_host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "execute/exact.h"
#include "execute/exact_line.h"

/* What the host may do with a byte. */
enum { MAY_LOAD = 1, MAY_STORE = 2, MAY_BOTH = MAY_LOAD | MAY_STORE };

/* One map. */
typedef struct guard {
    uintptr_t begin, end;
    kmm_map_t map;
    uint32_t depth;
    uint64_t launches;               /* made before the map began */
    bool is_deferred;                /* a launch with nowait has left it */
    unsigned char *may;              /* of each byte: MAY_... */
    const void *read_at, *stored_at; /* the first wrong load and store; NULL: none */
    uintptr_t read, stored;
    struct guard *next;
} guard_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static guard_t *guards;
static _Atomic uintptr_t least = UINTPTR_MAX, most; /* all guards lie between them */
static _Atomic uint64_t launch_count;

static guard_t *guard_of(uintptr_t address)
{
    for (guard_t *g = guards; g; g = g->next)
        if (address >= g->begin && address < g->end)
            return g;
    return NULL;
}

static void mark(guard_t *g, uintptr_t begin, uintptr_t end)
{
    for (uintptr_t k = begin > g->begin ? begin : g->begin; k < end && k < g->end; k++)
        g->may[k - g->begin] = MAY_BOTH;
}

static void add(guard_t guard, unsigned char may)
{
    guard_t *g = kmm__alloc(sizeof(*g));
    *g = guard;
    g->depth = 1;
    g->launches = atomic_load(&launch_count);
    g->next = guards;
    g->may = kmm__alloc(g->end - g->begin);
    memset(g->may, may, g->end - g->begin);
    guards = g;
    if (g->begin < atomic_load(&least))
        atomic_store(&least, g->begin);
    if (g->end > atomic_load(&most))
        atomic_store(&most, g->end);
}

void kmm__exact_host_enter(const void *base, size_t bytes, kmm_map_t map)
{
    uintptr_t begin = (uintptr_t)base;
    if (!kmm__exact_is_on() || bytes == 0)
        return;
    pthread_mutex_lock(&lock);
    guard_t *g = guard_of(begin);
    if (g && g->is_deferred) { /* the map of the region is now around that of the launch */
        g->is_deferred = false;
        g->map = map;
        memset(g->may, 0, g->end - g->begin);
    }
    if (g)
        g->depth++;
    else
        add((guard_t){.begin = begin, .end = begin + bytes, .map = map}, 0);
    pthread_mutex_unlock(&lock);
}

void kmm__exact_host_defer(const void *base, size_t bytes)
{
    uintptr_t begin = (uintptr_t)base;
    if (!kmm__exact_is_on() || bytes == 0)
        return;
    pthread_mutex_lock(&lock);
    if (!guard_of(begin))
        add((guard_t){.begin = begin, .end = begin + bytes, .is_deferred = true}, MAY_BOTH);
    pthread_mutex_unlock(&lock);
}

void kmm__exact_host_use(const void *base, size_t bytes, bool stores)
{
    uintptr_t begin = (uintptr_t)base;
    pthread_mutex_lock(&lock);
    guard_t *g = guard_of(begin);
    for (uintptr_t k = begin; g && g->is_deferred && k < begin + bytes && k < g->end; k++)
        g->may[k - g->begin] &= stores ? 0 : MAY_LOAD;
    pthread_mutex_unlock(&lock);
}

void kmm__exact_host_launch(void)
{
    atomic_fetch_add(&launch_count, 1);
}

void kmm__exact_host_update(const void *base, size_t bytes, bool to)
{
    uintptr_t begin = (uintptr_t)base;
    if (!kmm__exact_is_on())
        return;
    pthread_mutex_lock(&lock);
    guard_t *g = guard_of(begin);
    if (g) {
        mark(g, begin, begin + bytes);
        if (to && g->stored >= begin && g->stored < begin + bytes)
            g->stored_at = NULL;
    }
    pthread_mutex_unlock(&lock);
}

void kmm__exact_host_access(const void *address, size_t bytes, int kind, const void *pc)
{
    uintptr_t at = (uintptr_t)address;
    if (at >= atomic_load_explicit(&most, memory_order_relaxed) ||
        at + bytes <= atomic_load_explicit(&least, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    guard_t *g = guard_of(at);
    /* Before the first launch, and in what no launch writes, there are no other values. */
    bool old =
        g && !g->is_deferred && (g->map == KMM_MAP_TO || atomic_load(&launch_count) == g->launches);
    unsigned may = g ? g->may[at - g->begin] : MAY_BOTH;
    if ((kind & KMM__EXACT_LOAD) && !(may & MAY_LOAD) && !old && !g->read_at) {
        g->read_at = pc;
        g->read = at;
    }
    if ((kind & KMM__EXACT_STORE) && !(may & MAY_STORE) && !g->stored_at) {
        g->stored_at = pc;
        g->stored = at;
    }
    pthread_mutex_unlock(&lock);
}

static int report(const guard_t *g)
{
    char where[400];
    const void *pc = g->read_at ? g->read_at : g->stored_at;
    if (!pc)
        return 0;
    kmm__exact_line(pc, where, sizeof(where));
    unsigned long long byte = (g->read_at ? g->read : g->stored) - g->begin;
    if (g->is_deferred)
        return kmm__error_set(KMM_E_STATE,
                              "%s: the host %s byte %llu of memory that a launch with nowait %s; "
                              "say `#pragma kmm wait` before",
                              where, g->read_at ? "reads" : "stores to", byte,
                              g->read_at ? "stores to" : "uses");
    return kmm__error_set(KMM_E_STATE,
                          "%s: the host %s byte %llu of the memory while it is mapped; %s", where,
                          g->read_at ? "reads" : "stores to", byte,
                          g->read_at ? "say `#pragma kmm update from(...)` before"
                                     : "say `#pragma kmm update to(...)` behind it");
}

int kmm__exact_host_leave(const void *base)
{
    int error = 0;
    if (!kmm__exact_is_on())
        return 0;
    pthread_mutex_lock(&lock);
    guard_t *g = guard_of((uintptr_t)base);
    if (g && --g->depth == 0) {
        guard_t **at = &guards;
        while (*at != g)
            at = &(*at)->next;
        *at = g->next;
        error = report(g);
        free(g->may);
        free(g);
    }
    pthread_mutex_unlock(&lock);
    return error;
}
