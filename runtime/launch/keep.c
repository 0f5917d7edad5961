/* SPDX-License-Identifier: Apache-2.0 */
/* Kept descriptions, and the launches that are made of them. */
#include "launch/keep.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "launch/builder.h"
#include "launch/placement.h"
#include "memory/residency/native.h"
#include "memory/state.h"

enum { WAYS = 8 }; /* kept descriptions of one place */

/* Where a description is kept. Whoever exchanges `kept` for NULL owns it. */
typedef struct way {
    _Atomic uint64_t hash; /* of the values of what was put here last; 0: nothing was */
    _Atomic(kmm__kept_t *) kept;
} way_t;

/* What a kmm_site_t leads to. Never freed. */
typedef struct ways {
    way_t way[WAYS];
    _Atomic uint32_t next; /* the way that is taken next, if all are taken */
    struct ways *later;    /* in the list of all, which tools that look for leaks follow */
} ways_t;
static _Atomic(ways_t *) all;

struct kmm__kept {
    uint64_t hash;
    way_t *way;
    kmm_launch_t *launch; /* with its values */
    /* The launch that was made: */
    const kmm_kernel_t *kernel;
    uint32_t grid[3], block[3];
    bool has_first;     /* the program's launch has an argument for the kernel's parameter 0 */
    bool is_compared;   /* its grid, block, arguments and arrays count */
    kmm__words_t words; /* of the arguments */
    uint64_t index_changes;
};

/* ---- Places ---- */

static ways_t *ways_of(kmm_site_t *site)
{
    return __atomic_load_n(&site->known, __ATOMIC_ACQUIRE);
}

static ways_t *ways_make(kmm_site_t *site)
{
    ways_t *ways = kmm__alloc(sizeof(*ways));
    void *other = NULL;
    if (!__atomic_compare_exchange_n(&site->known, &other, (void *)ways, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        free(ways);
        return other;
    }
    ways->later = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &ways->later, ways)) {
    }
    return ways;
}

static uint64_t hash_of(const kmm_value_t *values, uint32_t count)
{
    uint64_t hash = count + 1;
    for (uint32_t k = 0; k < count; k++)
        hash = (hash ^ values[k]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

/* ---- Keeping ---- */

static void kept_free(kmm__kept_t *k)
{
    if (!k)
        return;
    if (k->launch) {
        k->launch->kept = NULL;
        kmm__launch_free(k->launch);
    }
    free(k->words.places);
    free(k->words.values);
    free(k);
}

void kmm__kept_return(kmm__kept_t *k)
{
    way_t *way = k->way;
    atomic_store_explicit(&way->hash, k->hash, memory_order_relaxed);
    kept_free(atomic_exchange(&way->kept, k));
}

static void *copy_of(const void *data, size_t bytes)
{
    return memcpy(kmm__alloc(bytes + 1), data, bytes);
}

kmm__kept_t *kmm__kept_make(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                            bool has_first, const kmm__words_t *words, uint64_t index_changes)
{
    kmm__kept_t *k = kmm__alloc(sizeof(*k));
    k->kernel = kernel;
    memcpy(k->grid, geometry->grid, sizeof(k->grid));
    memcpy(k->block, geometry->block, sizeof(k->block));
    k->has_first = has_first;
    k->index_changes = index_changes;
    if (!words)
        return k;
    k->is_compared = true;
    k->words = *words;
    k->words.places = copy_of(words->places, words->count * sizeof(*words->places));
    k->words.values = copy_of(words->values, words->count * sizeof(*words->values));
    return k;
}

/* The way that has these values, or else one that has none yet, or else the next one. */
static way_t *way_for(ways_t *ways, uint64_t hash)
{
    way_t *unused = NULL;
    for (uint32_t k = WAYS; k-- > 0;) {
        const uint64_t other = atomic_load_explicit(&ways->way[k].hash, memory_order_relaxed);
        if (other == hash)
            return &ways->way[k];
        unused = other ? unused : &ways->way[k];
    }
    return unused ? unused : &ways->way[atomic_fetch_add(&ways->next, 1) % WAYS];
}

void kmm__kept_keep(kmm__kept_t *k, kmm_launch_t *l)
{
    ways_t *ways = ways_of(l->site);
    k->hash = hash_of(l->values, l->value_count);
    k->way = way_for(ways ? ways : ways_make(l->site), k->hash);
    k->launch = l;
    l->kept = k;
    l->give_back = kmm__kept_return;
    kmm__kept_return(k);
}

/* ---- Using one ---- */

static bool is_usable(const kmm__kept_t *k, const kmm_runtime_t *rt, const kmm_value_t *values,
                      uint32_t count)
{
    const kmm_launch_t *l = k->launch;
    return l->runtime == rt && l->value_count == count &&
           memcmp(l->values, values, count * sizeof(*values)) == 0 &&
           (!k->is_compared || k->index_changes == atomic_load(&rt->memory->index_changes)) &&
           kmm__native_is(k->kernel->kind);
}

kmm_launch_t *kmm__kept_arm(const kmm_runtime_t *rt, kmm_site_t *site, const kmm_value_t *values,
                            uint32_t count)
{
    ways_t *ways = ways_of(site);
    if (!ways)
        return NULL;
    const uint64_t hash = hash_of(values, count);
    for (way_t *way = ways->way; way < ways->way + WAYS; way++) {
        if (atomic_load_explicit(&way->hash, memory_order_relaxed) != hash)
            continue;
        kmm__kept_t *k = atomic_exchange(&way->kept, NULL);
        if (!k)
            continue;
        kmm_launch_t **armed = kmm__launch_armed();
        if (is_usable(k, rt, values, count) && !*armed)
            return *armed = k->launch;
        kmm__kept_return(k);
    }
    return NULL;
}

static bool is_same(const kmm__kept_t *k, const kmm_kernel_t *kernel,
                    const kmm_geometry_t *geometry, void **args, uint32_t first)
{
    return k->kernel == kernel && k->has_first == !first &&
           (!k->is_compared ||
            (memcmp(k->grid, geometry->grid, sizeof(k->grid)) == 0 &&
             memcmp(k->block, geometry->block, sizeof(k->block)) == 0 &&
             k->index_changes == atomic_load(&k->launch->runtime->memory->index_changes) &&
             kmm__words_are_same(&k->words, args, first)));
}

int kmm__kept_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry, void **args,
                     uint32_t first)
{
    kmm_launch_t **armed = kmm__launch_armed(), *l = *armed;
    if (!l || !l->kept || !kmm__native_enter(kernel->kind))
        return -1;
    const kmm__device_t *d = kmm__place_only_gpu(l->runtime, kernel->kind);
    if (!d || !is_same(l->kept, kernel, geometry, args, first)) {
        kmm__native_leave();
        return -1;
    }
    kmm__native_note(l->file, l->line, kernel->name);
    kmm__log_debug("%s:%d: %s: natively, as before", l->file, l->line, kmm__launch_name(l));
    *armed = NULL;
    kmm__kept_return(l->kept); /* other threads may take it from now on */
    return d->ordinal;
}
