/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a pool: a hash table from addresses to blocks that are live or cached. */
#ifndef KMM__RESOURCE_INDEX_H
#define KMM__RESOURCE_INDEX_H

#include "resource/pool_state.h"

/* Multiplicative hashing. Addresses are multiples of 256, so their low bits are dropped. Only
 * the high bits of the product are well mixed. */
static inline size_t kmm__index_bucket(const kmm__index_t *x, uintptr_t address)
{
    return (size_t)(((uint64_t)address >> KMM__UNIT_SHIFT) * 0x9E3779B97F4A7C15u >> x->shift);
}

static inline kmm__block_t *kmm__index_find(const kmm__index_t *x, uintptr_t address)
{
    kmm__block_t *b =
        atomic_load_explicit(&x->buckets[kmm__index_bucket(x, address)], memory_order_acquire);
    for (int steps = 0; b && steps < 16; steps++) {
        if (kmm__block_is_at(b, address))
            return b;
        b = atomic_load_explicit(&b->same, memory_order_acquire);
    }
    return NULL;
}

static inline kmm__index_t *kmm__index_of(kmm__pool_t *p, bool large)
{
    return atomic_load_explicit(&p->index[large], memory_order_relaxed);
}

/* The block is live or cached, so its size does not change. */
static inline bool kmm__is_large(const kmm__block_t *b)
{
    return b->bytes >= KMM__LARGE_BYTES;
}

/* ---- The caller holds the pool's lock, or no other thread knows the pool yet ---- */

/* Creates an index of 2^bits buckets; NULL: the host has no memory. */
kmm__index_t *kmm__index_new(unsigned bits);
/* Grows the index to at least one bucket per expected block. Keeps it as it is if the host has
 * no memory. */
void kmm__index_expect(kmm__pool_t *p, bool large, size_t blocks);
const kmm__block_t *kmm__index_find_locked(kmm__pool_t *p, bool large, uintptr_t address);
int kmm__index_init(kmm__pool_t *p); /* KMM_E_MEMORY: the host has no memory */
void kmm__index_deinit(kmm__pool_t *p);

static inline void kmm__index_add(kmm__index_t *x, kmm__block_t *b)
{
    _Atomic(kmm__block_t *) *bucket = &x->buckets[kmm__index_bucket(x, b->address)];
    atomic_store_explicit(&b->same, atomic_load_explicit(bucket, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(bucket, b, memory_order_release);
    x->count++;
}

static inline void kmm__index_remove(kmm__index_t *x, kmm__block_t *b)
{
    _Atomic(kmm__block_t *) *at = &x->buckets[kmm__index_bucket(x, b->address)];
    for (kmm__block_t *other; (other = atomic_load_explicit(at, memory_order_relaxed)) != b;
         at = &other->same)
        continue;
    atomic_store_explicit(at, atomic_load_explicit(&b->same, memory_order_relaxed),
                          memory_order_release);
    x->count--;
}

static inline void kmm__index_list(kmm__pool_t *p, kmm__block_t *b)
{
    kmm__index_t *x = kmm__index_of(p, kmm__is_large(b));
    kmm__index_add(x, b);
    if (__builtin_expect(x->count >> 1 >> (63 - x->shift), 0))
        kmm__index_expect(p, kmm__is_large(b), x->count);
}

/* Returns the block that is live or cached at an address; NULL: there is none. Takes the pool's
 * lock. */
kmm__block_t *kmm__heap_find_surely(kmm__pool_t *p, const void *address);

/* The same without the lock, in most cases. `bytes` is a guess at the block's size, which
 * selects the table to search first. Another thread may move blocks between chains meanwhile: a
 * hit is always right, and a miss is checked again under the lock. */
static inline kmm__block_t *kmm__heap_find(kmm__pool_t *p, const void *address, size_t bytes)
{
    const bool large = bytes > KMM__LARGE_BYTES - KMM_RESOURCE_ALIGNMENT;
    const kmm__index_t *x = atomic_load_explicit(&p->index[large], memory_order_acquire);
    kmm__block_t *b = kmm__index_find(x, (uintptr_t)address);
    if (b)
        return b;
    b = kmm__index_find(atomic_load_explicit(&p->index[!large], memory_order_acquire),
                        (uintptr_t)address);
    return b ? b : kmm__heap_find_surely(p, address);
}

/* Returns zeroed memory whose pages are already present, in huge pages if possible to save
 * address translations. */
void *kmm__pool_memory_new(size_t bytes);

#endif
