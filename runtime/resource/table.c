/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader loads the version, searches, and loads the version again. If it has changed, the reader
 * searches once more. Entries are written with release and read with acquire. So a reader that has
 * seen any part of a change also sees that the version is odd or has changed.
 */
#include "resource/table.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <kmm/error.h>

typedef kmm__table_shard_t shard_t;
typedef kmm__table_entries_t entries_t;

/* Multiplicative hashing: low bits of addresses are zeros, and only high bits of the product are
 * good. */
static uint64_t hash(uintptr_t key)
{
    return (uint64_t)(key >> 8) * 0x9E3779B97F4A7C15u ^ (uint64_t)key << 56;
}

static shard_t *shard_of(kmm__table_t *t, uintptr_t key)
{
    return &t->shards[hash(key) >> 58];
}

/* A shard is written for a few instructions only. But its writer may be descheduled, so a reader
 * yields after a short spin. */
static void pause_for(unsigned *spins)
{
    if (++*spins % 64 == 0)
        sched_yield();
}

static shard_t *shard_lock(kmm__table_t *t, uintptr_t key)
{
    shard_t *s = shard_of(t, key);
    unsigned spins = 0;
    for (;;) {
        uint32_t version = atomic_load_explicit(&s->version, memory_order_relaxed) & ~1u;
        if (atomic_compare_exchange_weak_explicit(&s->version, &version, version + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return s;
        pause_for(&spins);
    }
}

static void shard_unlock(shard_t *s)
{
    atomic_store_explicit(&s->version, atomic_load_explicit(&s->version, memory_order_relaxed) + 1,
                          memory_order_release);
}

static uintptr_t key_at(const entries_t *l, size_t i)
{
    return atomic_load_explicit(&l->entry[i].key, memory_order_acquire);
}
static void *value_at(const entries_t *l, size_t i)
{
    return atomic_load_explicit(&l->entry[i].value, memory_order_acquire);
}

static void entry_set(entries_t *l, size_t i, uintptr_t key, void *value)
{
    atomic_store_explicit(&l->entry[i].key, key, memory_order_release);
    atomic_store_explicit(&l->entry[i].value, value, memory_order_release);
}

static size_t home(const entries_t *l, uintptr_t key)
{
    return (hash(key) >> 20) & (l->capacity - 1);
}

/* Returns the position of the key, or of the empty entry where it would be. While another thread
 * writes the shard, it may be any position. */
static size_t probe(const entries_t *l, uintptr_t key)
{
    size_t i = home(l, key);
    for (size_t steps = 1; steps < l->capacity; steps++) {
        uintptr_t found = key_at(l, i);
        if (found == 0 || found == key)
            break;
        i = (i + 1) & (l->capacity - 1);
    }
    return i;
}

/* ---- The caller has locked the shard ---- */

static entries_t *entries_of(const shard_t *s)
{
    return atomic_load_explicit(&s->entries, memory_order_relaxed);
}

static bool shard_grow(shard_t *s)
{
    entries_t *old = entries_of(s);
    size_t capacity = old ? 2 * old->capacity : 64;
    entries_t *bigger = calloc(1, sizeof(*bigger) + capacity * sizeof(bigger->entry[0]));
    if (!bigger)
        return false;
    bigger->smaller = old;
    bigger->capacity = capacity;
    for (size_t i = 0; old && i < old->capacity; i++)
        if (key_at(old, i))
            entry_set(bigger, probe(bigger, key_at(old, i)), key_at(old, i), value_at(old, i));
    atomic_store_explicit(&s->entries, bigger, memory_order_release);
    return true;
}

/* Closes the gap at i: no empty entry may lie between a key and its home. */
static void close_gap(entries_t *l, size_t i)
{
    const size_t mask = l->capacity - 1;
    for (size_t j = (i + 1) & mask; key_at(l, j); j = (j + 1) & mask) {
        size_t k = home(l, key_at(l, j));
        if (((j - k) & mask) < ((j - i) & mask))
            continue; /* its home lies behind the gap */
        entry_set(l, i, key_at(l, j), value_at(l, j));
        i = j;
    }
    entry_set(l, i, 0, NULL);
}

/* ---- The interface ---- */

void kmm__table_init(kmm__table_t *t)
{
    memset(t, 0, sizeof(*t));
}

void kmm__table_deinit(kmm__table_t *t)
{
    for (int i = 0; i < KMM__TABLE_SHARDS; i++)
        for (entries_t *l = entries_of(&t->shards[i]), *smaller; l; l = smaller) {
            smaller = l->smaller;
            free(l);
        }
}

int kmm__table_put(kmm__table_t *t, const void *key, void *value)
{
    shard_t *s = shard_lock(t, (uintptr_t)key);
    const entries_t *l = entries_of(s);
    bool fits = (l && 4 * (s->count + 1) <= 3 * l->capacity) || shard_grow(s);
    if (fits) {
        entry_set(entries_of(s), probe(entries_of(s), (uintptr_t)key), (uintptr_t)key, value);
        s->count++;
    }
    shard_unlock(s);
    return fits ? 0 : KMM_E_MEMORY;
}

void *kmm__table_find(kmm__table_t *t, const void *key)
{
    shard_t *s = shard_of(t, (uintptr_t)key);
    unsigned spins = 0;
    for (;; pause_for(&spins)) {
        uint32_t version = atomic_load_explicit(&s->version, memory_order_acquire);
        if (version & 1)
            continue;
        const entries_t *l = atomic_load_explicit(&s->entries, memory_order_acquire);
        size_t i = l ? probe(l, (uintptr_t)key) : 0;
        void *value = l && key_at(l, i) == (uintptr_t)key ? value_at(l, i) : NULL;
        if (atomic_load_explicit(&s->version, memory_order_relaxed) == version)
            return value;
    }
}

void *kmm__table_take(kmm__table_t *t, const void *key)
{
    shard_t *s = shard_lock(t, (uintptr_t)key);
    entries_t *l = entries_of(s);
    void *value = NULL;
    if (l) {
        size_t i = probe(l, (uintptr_t)key);
        value = value_at(l, i);
        if (value) {
            close_gap(l, i);
            s->count--;
        }
    }
    shard_unlock(s);
    return value;
}

void kmm__table_each(kmm__table_t *t, void (*fn)(void *context, void *value), void *context)
{
    for (int i = 0; i < KMM__TABLE_SHARDS; i++) {
        const entries_t *l = entries_of(&t->shards[i]);
        for (size_t j = 0; l && j < l->capacity; j++)
            if (key_at(l, j))
                fn(context, value_at(l, j));
    }
}

size_t kmm__table_count(kmm__table_t *t)
{
    size_t n = 0;
    for (int i = 0; i < KMM__TABLE_SHARDS; i++)
        n += t->shards[i].count;
    return n;
}
