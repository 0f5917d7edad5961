/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of what the host does to mapped memory. Each byte of a map has a state, and a copy of
 * what the memory held when its value was last known: a byte that differs from its copy was stored
 * to by code that does not call kmm__exact_host_access.
 */
#include "execute/exact_host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/api.h"
#include "base/error.h"
#include "base/running.h"
#include "execute/exact.h"
#include "execute/exact_line.h"

/* The state of a byte. */
enum {
    CURRENT = 1,   /* an update has given the host its value */
    STALE = 2,     /* a launch may have stored to it since */
    STORED = 4,    /* the host has stored to it, and no `update to` has followed */
    KNOWN = 8,     /* the memory holds what the copy holds, unless the host has stored to it */
    IN_USE = 16,   /* a launch uses it, and the host has waited for nothing since */
    NO_LOAD = 32,  /* a launch with nowait stores to it */
    NO_STORE = 64, /* a launch with nowait uses it */
    IN_TASK = 128, /* times the number of tasks whose statements use it */
    MOST_IN_TASK = UINT16_MAX - IN_TASK
};

/* The stores of one line. */
typedef struct store {
    const void *pc;
    uintptr_t begin, end;
} store_t;

/* One map. */
typedef struct guard {
    uintptr_t begin, end;
    kmm_map_t map;
    uint32_t depth;
    uint64_t launches; /* made before the map began */
    uint64_t waits;    /* made before IN_USE was set */
    bool is_deferred;  /* a launch with nowait has left it */
    uint16_t *state;
    unsigned char *copy;
    store_t *stores;
    uint32_t store_count, store_capacity;
    const void *read_at, *used_at; /* the first load of an old value, and the first store to what a
                                      launch uses; NULL: none */
    uintptr_t read, used;
    struct guard *next;
} guard_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool has_lock;
static guard_t *guards;
static _Atomic uintptr_t least = UINTPTR_MAX, most; /* all guards lie between them */
static _Atomic uint64_t launch_count, wait_count;
static atomic_bool is_on;

static void enter(void)
{
    pthread_mutex_lock(&lock);
    has_lock = true;
}

static void leave(void)
{
    has_lock = false;
    pthread_mutex_unlock(&lock);
}

static uintptr_t end_of(uintptr_t begin, size_t bytes)
{
    return bytes < UINTPTR_MAX - begin ? begin + bytes : UINTPTR_MAX; /* KMM_ALL_BYTES */
}

static bool is_beside(uintptr_t begin, size_t bytes)
{
    return begin >= atomic_load_explicit(&most, memory_order_relaxed) ||
           end_of(begin, bytes) <= atomic_load_explicit(&least, memory_order_relaxed);
}

/* The first map that has some of the bytes. */
static guard_t *guard_in(uintptr_t begin, size_t bytes)
{
    for (guard_t *g = guards; g; g = g->next)
        if (begin < g->end && g->begin < end_of(begin, bytes))
            return g;
    return NULL;
}

/* Of one map, bytes [from, to), counted from its begin. */
typedef struct span {
    size_t from, to;
} span_t;

static span_t span_of(const guard_t *g, uintptr_t begin, size_t bytes)
{
    uintptr_t end = end_of(begin, bytes);
    span_t s = {begin > g->begin ? begin - g->begin : 0, 0};
    end = end < g->end ? end : g->end;
    s.to = end > g->begin ? end - g->begin : 0;
    return s;
}

/* ---- What the host has stored ---- */

static void note_store(guard_t *g, uintptr_t begin, uintptr_t end, const void *pc)
{
    enum { LINES = 64 };
    for (uint32_t k = 0; k < g->store_count; k++)
        if (g->stores[k].pc == pc) {
            store_t *s = &g->stores[k];
            s->begin = begin < s->begin ? begin : s->begin;
            s->end = end > s->end ? end : s->end;
            return;
        }
    if (g->store_count == LINES)
        return;
    g->stores = kmm__grow(g->stores, g->store_count, &g->store_capacity, sizeof(*g->stores));
    g->stores[g->store_count++] = (store_t){pc, begin, end};
}

/* The line that has stored to a byte; NULL: not known. */
static const void *store_at(const guard_t *g, uintptr_t at)
{
    for (uint32_t k = g->store_count; k-- > 0;)
        if (at >= g->stores[k].begin && at < g->stores[k].end)
            return g->stores[k].pc;
    return NULL;
}

static bool has_changed(const guard_t *g, size_t k)
{
    return (g->state[k] & KNOWN) && ((const unsigned char *)g->begin)[k] != g->copy[k];
}

/* True if the host has stored to the byte, and its value may differ from that of the launches. */
static bool is_stored(const guard_t *g, size_t k)
{
    return (g->state[k] & STORED) || (g->state[k] < IN_TASK && has_changed(g, k));
}

/* From now on the byte has the value that is there. */
static void know(guard_t *g, size_t k, unsigned state)
{
    g->copy[k] = ((const unsigned char *)g->begin)[k];
    g->state[k] = (uint16_t)((g->state[k] & ~(STALE | STORED | IN_USE)) | KNOWN | state);
}

/* ---- Maps ---- */

static guard_t *add(guard_t guard)
{
    guard_t *g = kmm__alloc(sizeof(*g));
    *g = guard;
    g->depth = 1;
    g->launches = atomic_load(&launch_count);
    g->next = guards;
    g->state = kmm__alloc((g->end - g->begin) * sizeof(*g->state));
    g->copy = kmm__alloc(g->end - g->begin);
    memset(g->state, 0, (g->end - g->begin) * sizeof(*g->state));
    guards = g;
    if (g->begin < atomic_load(&least))
        atomic_store(&least, g->begin);
    if (g->end > atomic_load(&most))
        atomic_store(&most, g->end);
    return g;
}

/* What launches with nowait have not stored to is known at the begin of a map. */
static void begin_map(guard_t *g, kmm_map_t map)
{
    g->is_deferred = false;
    g->map = map;
    for (size_t k = 0; k < g->end - g->begin; k++) {
        bool is_stale = g->state[k] & NO_LOAD;
        g->state[k] = is_stale ? STALE : 0;
        if (!is_stale)
            know(g, k, 0);
    }
}

void kmm__exact_host_watch(void)
{
    atomic_store(&is_on, true);
}

void kmm__exact_host_enter(const void *base, size_t bytes, kmm_map_t map)
{
    uintptr_t begin = (uintptr_t)base;
    if (!atomic_load(&is_on) || bytes == 0)
        return;
    enter();
    guard_t *g = guard_in(begin, 1);
    if (!g) {
        begin_map(add((guard_t){.begin = begin, .end = begin + bytes}), map);
    } else {
        if (g->is_deferred) /* the map of the region is now around that of the launch */
            begin_map(g, map);
        g->depth++;
    }
    leave();
}

void kmm__exact_host_defer(const void *base, size_t bytes)
{
    uintptr_t begin = (uintptr_t)base;
    if (!atomic_load(&is_on) || bytes == 0)
        return;
    enter();
    if (!guard_in(begin, 1))
        add((guard_t){.begin = begin, .end = begin + bytes, .is_deferred = true});
    leave();
}

/* ---- Launches, updates and waits ---- */

void kmm__exact_host_launch(void)
{
    atomic_fetch_add(&launch_count, 1);
}

void kmm__exact_host_wait(void)
{
    atomic_fetch_add(&wait_count, 1);
}

static void use_deferred(guard_t *g, span_t s, bool stores)
{
    for (size_t k = s.from; k < s.to; k++) {
        if (!stores && !(g->state[k] & (NO_LOAD | KNOWN)))
            know(g, k, 0);
        g->state[k] |= stores ? NO_LOAD | NO_STORE : NO_STORE;
        if (stores)
            g->state[k] &= (uint16_t)~KNOWN;
    }
}

/* IN_USE is set from the last wait on. */
static void begin_uses(guard_t *g)
{
    uint64_t waits = atomic_load(&wait_count);
    for (size_t k = 0; g->waits != waits && k < g->end - g->begin; k++)
        g->state[k] &= (uint16_t)~IN_USE;
    g->waits = waits;
}

static int say_stored(const guard_t *g, size_t k, const char *remedy)
{
    char where[400] = "";
    const void *pc = store_at(g, g->begin + k);
    if (pc)
        kmm__exact_line(pc, where, sizeof(where));
    return kmm__error_set(KMM_E_STATE,
                          "%s%sthe host stores to byte %zu of the memory while it is %s", where,
                          pc ? ": " : "", k, remedy);
}

int kmm__exact_host_use(const void *base, size_t bytes, bool stores)
{
    uintptr_t begin = (uintptr_t)base;
    int error = 0;
    if (is_beside(begin, bytes))
        return 0;
    enter();
    guard_t *g = guard_in(begin, bytes);
    span_t s = g ? span_of(g, begin, bytes) : (span_t){0, 0};
    if (g && g->is_deferred) {
        use_deferred(g, s, stores);
        g = NULL;
    }
    if (g)
        begin_uses(g);
    for (size_t k = s.from; g && k < s.to; k++) {
        if (!error && is_stored(g, k))
            error = say_stored(g, k,
                               "mapped, and the launch uses it; say `#pragma kmm update to(...)` "
                               "before the launch");
        if (error && is_stored(g, k))
            know(g, k, CURRENT); /* it has been said */
        g->state[k] |= IN_USE;
        if (stores)
            g->state[k] = (uint16_t)((g->state[k] & ~(CURRENT | KNOWN)) | STALE);
    }
    leave();
    return error;
}

void kmm__exact_host_task(const void *base, size_t bytes, bool begins)
{
    uintptr_t begin = (uintptr_t)base;
    if (is_beside(begin, bytes))
        return;
    enter();
    guard_t *g = guard_in(begin, bytes);
    span_t s = g ? span_of(g, begin, bytes) : (span_t){0, 0};
    for (size_t k = s.from; k < s.to; k++) {
        if (begins && g->state[k] < MOST_IN_TASK)
            g->state[k] += IN_TASK;
        else if (!begins && g->state[k] >= IN_TASK)
            g->state[k] -= IN_TASK;
    }
    leave();
}

int kmm__exact_host_before_to(const void *base, size_t bytes)
{
    enum { PADDING = 7 };
    uintptr_t begin = (uintptr_t)base;
    size_t old = 0, run = 0;
    bool has_stored = false, is_old = false;
    if (is_beside(begin, bytes) || !kmm__exact_is_on())
        return 0;
    enter();
    guard_t *g = guard_in(begin, bytes);
    span_t s = g ? span_of(g, begin, bytes) : (span_t){0, 0};
    for (size_t k = s.from; k < s.to && g->state[k] < IN_TASK; k++) {
        has_stored |= (g->state[k] & STORED) != 0;
        bool is_left = (g->state[k] & (STALE | STORED)) == STALE &&
                       ((const unsigned char *)g->begin)[k] == g->copy[k];
        run = is_left ? run + 1 : 0;
        if (run > PADDING && !is_old) {
            is_old = true;
            old = k + 1 - run;
        }
    }
    leave();
    if (!is_old || !has_stored)
        return 0;
    return kmm__error_set(KMM_E_STATE,
                          "byte %zu of the memory has an old value, which would replace that of a "
                          "launch; say `#pragma kmm update from(...)` before the host stores to "
                          "the rest, or name only what it stores to",
                          old);
}

void kmm__exact_host_update(const void *base, size_t bytes, bool to)
{
    uintptr_t begin = (uintptr_t)base;
    kmm__exact_host_wait();
    if (is_beside(begin, bytes))
        return;
    enter();
    guard_t *g = guard_in(begin, bytes);
    span_t s = g && !g->is_deferred ? span_of(g, begin, bytes) : (span_t){0, 0};
    for (size_t k = s.from; k < s.to; k++) {
        if (to || !is_stored(g, k))
            know(g, k, CURRENT);
        else
            g->state[k] |= CURRENT | STORED;
    }
    leave();
}

/* ---- What the host does ---- */

static void access(guard_t *g, size_t k, int kind, const void *pc)
{
    /* Before the first launch, and in what no launch writes, there are no other values. */
    bool old = g->map == KMM_MAP_TO || atomic_load(&launch_count) == g->launches;
    unsigned state = g->state[k];
    bool may_load = g->is_deferred ? !(state & NO_LOAD) : old || (state & (CURRENT | STORED));
    bool is_used = g->is_deferred ? (state & NO_STORE) != 0
                                  : (state & IN_USE) && g->waits == atomic_load(&wait_count);
    if (state >= IN_TASK)
        return;
    if ((kind & KMM__EXACT_LOAD) && !may_load && !g->read_at) {
        g->read_at = pc;
        g->read = k;
    }
    if (!(kind & KMM__EXACT_STORE))
        return;
    if (is_used && !g->used_at) {
        g->used_at = pc;
        g->used = k;
    }
    if (!g->is_deferred)
        g->state[k] |= STORED;
}

void kmm__exact_host_access(const void *address, size_t bytes, int kind, const void *pc)
{
    uintptr_t at = (uintptr_t)address;
    if (is_beside(at, bytes))
        return;
    enter();
    for (guard_t *g = guards; g; g = g->next) {
        if (at >= g->end || g->begin >= end_of(at, bytes))
            continue;
        span_t s = span_of(g, at, bytes);
        if ((kind & KMM__EXACT_STORE) && s.from < s.to && g->state[s.from] < IN_TASK)
            note_store(g, g->begin + s.from, g->begin + s.to, pc);
        for (size_t k = s.from; k < s.to; k++)
            access(g, k, kind, pc);
    }
    leave();
}

KMM__API void kmm__exact_host_free(const void *block, size_t bytes, const void *pc)
{
    uintptr_t begin = (uintptr_t)block;
    if (has_lock || kmm__running || is_beside(begin, bytes))
        return;
    enter();
    const guard_t *g = guard_in(begin, bytes);
    bool is_mapped = g != NULL, is_deferred = g && g->is_deferred;
    leave();
    if (!is_mapped)
        return;
    char where[400];
    kmm__exact_line(pc, where, sizeof(where));
    int error = kmm__error_set(KMM_E_STATE, "%s: the host frees memory that %s; %s", where,
                               is_deferred ? "a launch with nowait uses" : "is mapped",
                               is_deferred ? "say `#pragma kmm wait` before"
                                           : "end the `data` region before");
    kmm_directive_check(error, where, 0);
}

/* ---- The end of a map ---- */

static int report(const guard_t *g)
{
    char where[400];
    if (g->read_at || g->used_at)
        kmm__exact_line(g->read_at ? g->read_at : g->used_at, where, sizeof(where));
    if (g->is_deferred && (g->read_at || g->used_at))
        return kmm__error_set(KMM_E_STATE,
                              "%s: the host %s byte %zu of memory that a launch with nowait %s; "
                              "say `#pragma kmm wait` before",
                              where, g->read_at ? "reads" : "stores to",
                              g->read_at ? g->read : g->used, g->read_at ? "stores to" : "uses");
    if (g->read_at)
        return kmm__error_set(KMM_E_STATE,
                              "%s: the host reads byte %zu of the memory while it is mapped; say "
                              "`#pragma kmm update from(...)` before",
                              where, g->read);
    if (g->used_at)
        return kmm__error_set(KMM_E_STATE,
                              "%s: the host stores to byte %zu of memory that a launch uses; say "
                              "`#pragma kmm update from(...)` or `#pragma kmm wait` before",
                              where, g->used);
    for (size_t k = 0; k < g->end - g->begin; k++)
        if (g->is_deferred && has_changed(g, k))
            return kmm__error_set(KMM_E_STATE,
                                  "the host stores to byte %zu of memory that a launch with nowait "
                                  "uses; say `#pragma kmm wait` before",
                                  k);
        else if (!g->is_deferred && is_stored(g, k))
            return say_stored(g, k, "mapped; say `#pragma kmm update to(...)` behind it");
    return 0;
}

int kmm__exact_host_leave(const void *base)
{
    int error = 0;
    if (is_beside((uintptr_t)base, 1))
        return 0;
    enter();
    guard_t *g = guard_in((uintptr_t)base, 1);
    if (g && --g->depth == 0) {
        guard_t **at = &guards;
        while (*at != g)
            at = &(*at)->next;
        *at = g->next;
        error = report(g);
        free(g->state);
        free(g->copy);
        free(g->stores);
        free(g);
    }
    leave();
    return error;
}
