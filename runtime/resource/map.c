/* SPDX-License-Identifier: Apache-2.0 */
#include "map.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <kmm/error.h>

/* Multiplicative hashing: low bits of addresses are zeros, and only high bits of the product are good. */
static uint64_t hash(uintptr_t key) { return (uint64_t)(key >> 8) * 0x9E3779B97F4A7C15u ^ (uint64_t)key << 56; }

static kmm__map_shard_t *shard_lock(kmm__map_t *m, uintptr_t key)
{
    kmm__map_shard_t *s = &m->shards[hash(key) >> 58];
    /* Held for a few instructions, but its holder may lose the processor: yield after a short spin. */
    for (unsigned spins = 0; atomic_flag_test_and_set_explicit(&s->lock, memory_order_acquire);)
        if (++spins % 64 == 0)
            sched_yield();
    return s;
}

static void shard_unlock(kmm__map_shard_t *s) { atomic_flag_clear_explicit(&s->lock, memory_order_release); }

static size_t home(const kmm__map_shard_t *s, uintptr_t key) { return (hash(key) >> 20) & (s->capacity - 1); }

/* The slot of the key, or the empty one where it would be. capacity > 0. */
static size_t probe(const kmm__map_shard_t *s, uintptr_t key)
{
    size_t i = home(s, key);
    while (s->slots[i].key && s->slots[i].key != key)
        i = (i + 1) & (s->capacity - 1);
    return i;
}

static bool shard_grow(kmm__map_shard_t *s)
{
    kmm__map_shard_t bigger = { .capacity = s->capacity ? 2 * s->capacity : 64, .count = s->count };
    bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < s->capacity; i++)
        if (s->slots[i].key)
            bigger.slots[probe(&bigger, s->slots[i].key)] = s->slots[i];
    free(s->slots);
    s->slots = bigger.slots;
    s->capacity = bigger.capacity;
    return true;
}

/* Closes the gap at i, so that every key is still reached from its home without an empty slot between. */
static void close_gap(kmm__map_shard_t *s, size_t i)
{
    const size_t mask = s->capacity - 1;
    for (size_t j = (i + 1) & mask; s->slots[j].key; j = (j + 1) & mask) {
        size_t k = home(s, s->slots[j].key);
        if (((j - k) & mask) < ((j - i) & mask))
            continue; /* its home lies after the gap */
        s->slots[i] = s->slots[j];
        i = j;
    }
    s->slots[i].key = 0;
    s->slots[i].value = NULL;
}

void kmm__map_init(kmm__map_t *m)
{
    memset(m, 0, sizeof(*m));
    for (int i = 0; i < KMM__MAP_SHARDS; i++)
        atomic_flag_clear(&m->shards[i].lock);
}

void kmm__map_deinit(kmm__map_t *m)
{
    for (int i = 0; i < KMM__MAP_SHARDS; i++)
        free(m->shards[i].slots);
}

int kmm__map_put(kmm__map_t *m, const void *key, void *value)
{
    kmm__map_shard_t *s = shard_lock(m, (uintptr_t)key);
    bool fits = 4 * (s->count + 1) <= 3 * s->capacity || shard_grow(s);
    if (fits) {
        s->slots[probe(s, (uintptr_t)key)] = (kmm__map_slot_t){ (uintptr_t)key, value };
        s->count++;
    }
    shard_unlock(s);
    return fits ? 0 : KMM_E_MEMORY;
}

void *kmm__map_find(kmm__map_t *m, const void *key)
{
    kmm__map_shard_t *s = shard_lock(m, (uintptr_t)key);
    void *value = s->capacity ? s->slots[probe(s, (uintptr_t)key)].value : NULL;
    shard_unlock(s);
    return value;
}

void *kmm__map_take(kmm__map_t *m, const void *key)
{
    kmm__map_shard_t *s = shard_lock(m, (uintptr_t)key);
    void *value = NULL;
    if (s->capacity) {
        size_t i = probe(s, (uintptr_t)key);
        value = s->slots[i].value;
        if (value) {
            close_gap(s, i);
            s->count--;
        }
    }
    shard_unlock(s);
    return value;
}

void kmm__map_each(kmm__map_t *m, void (*fn)(void *context, void *value), void *context)
{
    for (int i = 0; i < KMM__MAP_SHARDS; i++)
        for (size_t j = 0; j < m->shards[i].capacity; j++)
            if (m->shards[i].slots[j].key)
                fn(context, m->shards[i].slots[j].value);
}

size_t kmm__map_count(kmm__map_t *m)
{
    size_t n = 0;
    for (int i = 0; i < KMM__MAP_SHARDS; i++)
        n += m->shards[i].count;
    return n;
}
