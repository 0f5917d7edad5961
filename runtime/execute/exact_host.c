/* SPDX-License-Identifier: Apache-2.0 */
/* The check of what the host does to mapped memory. */
#include "execute/exact_host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "execute/exact.h"
#include "execute/exact_line.h"

/* One map. `free` has a mark for each byte that the host may touch. */
typedef struct guard {
    uintptr_t begin, end;
    kmm_map_t map;
    uint32_t depth;
    uint64_t launches; /* made before the map began */
    unsigned char *free;
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
        g->free[k - g->begin] = 1;
}

void kmm__exact_host_enter(const void *base, size_t bytes, kmm_map_t map)
{
    uintptr_t begin = (uintptr_t)base;
    if (!kmm__exact_is_on() || bytes == 0)
        return;
    pthread_mutex_lock(&lock);
    guard_t *g = guard_of(begin);
    if (g) {
        g->depth++;
    } else {
        g = kmm__alloc(sizeof(*g));
        *g = (guard_t){.begin = begin,
                       .end = begin + bytes,
                       .map = map,
                       .depth = 1,
                       .launches = atomic_load(&launch_count),
                       .next = guards};
        g->free = kmm__alloc(bytes);
        for (size_t k = 0; k < bytes; k++)
            g->free[k] = 0;
        guards = g;
        if (begin < atomic_load(&least))
            atomic_store(&least, begin);
        if (begin + bytes > atomic_load(&most))
            atomic_store(&most, begin + bytes);
    }
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
    bool old = g && (g->map == KMM_MAP_TO || atomic_load(&launch_count) == g->launches);
    if (g && !g->free[at - g->begin]) {
        if ((kind & KMM__EXACT_LOAD) && !old && !g->read_at) {
            g->read_at = pc;
            g->read = at;
        }
        if ((kind & KMM__EXACT_STORE) && !g->stored_at) {
            g->stored_at = pc;
            g->stored = at;
        }
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
    return kmm__error_set(KMM_E_STATE,
                          "%s: the host %s byte %llu of the memory while it is mapped; %s", where,
                          g->read_at ? "reads" : "stores to",
                          (unsigned long long)((g->read_at ? g->read : g->stored) - g->begin),
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
        free(g->free);
        free(g);
    }
    pthread_mutex_unlock(&lock);
    return error;
}
