/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free blocks by size.
 *
 * Sizes are counted in units of 256 bytes and fall into classes: one for each size below 256 units, then
 * 128 to each doubling, so that a class spans less than 1%. A bitmap over the classes finds the next one that is
 * not empty, so that putting, taking and fitting take constant time however many blocks there are, and look at few
 * blocks, each of which may be in no cache of the processor.
 */
#ifndef KMM__RESOURCE_SHELF_H
#define KMM__RESOURCE_SHELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KMM__UNIT_SHIFT = 8,
    KMM__CLASS_BITS = 7,
    KMM__CLASS_SHIFTS = 26, /* sizes of 2 TiB and more are one class */
    KMM__CLASSES = (KMM__CLASS_SHIFTS + 1) << KMM__CLASS_BITS,
    KMM__CLASS_WORDS = KMM__CLASSES / 64,
    KMM__PROBES = 4 /* how many blocks of the request's own class are looked at: some of them may be too small */
};
_Static_assert(KMM__CLASS_WORDS <= 64, "one word tells which words are used");

typedef enum kmm__block_state {
    KMM__BLOCK_UNUSED,
    KMM__BLOCK_LIVE,
    KMM__BLOCK_CACHED,
    KMM__BLOCK_FREE,
    KMM__BLOCK_LEFT, /* only addresses: its frames are elsewhere */
} kmm__block_state_t;

/* A piece of a region. Blocks tile their region: below->address + below->bytes == address. Processors fetch lines of 64
 * bytes in pairs: a block is one. */
typedef struct kmm__block {
    /* One line of the processor's cache, and all that a neighbour or a list looks at: */
    _Alignas(128) uintptr_t address;    /* written with kmm__block_place */
    size_t bytes;                       /* a multiple of 256 */
    struct kmm__block *below, *above;   /* neighbours in the region; guarded by the pool's lock */
    struct kmm__block *previous, *next; /* in a class of a shelf, or a list of spare descriptors (next) */
    struct kmm__pool_stream *owner;     /* free: which stream may still use it; NULL: nobody */
    _Atomic kmm__block_state_t state;
    uint32_t round;                     /* cached: since which round of its cache */
    /* And the rest: */
    _Atomic(struct kmm__block *) same;  /* listed: the next in its bucket of the pool's index */
    bool listed;                        /* in the index */
    uint64_t epoch;                     /* free, with an owner: until this epoch of it */
    size_t asked;                       /* live: what the program asked for */
    struct kmm__region *region;
} kmm__block_t;

/* The address is compared by threads that have no lock. */
static inline void kmm__block_place(kmm__block_t *b, uintptr_t address) { __atomic_store_n(&b->address, address, __ATOMIC_RELAXED); }
static inline bool kmm__block_is_at(const kmm__block_t *b, uintptr_t address)
{
    return __atomic_load_n(&b->address, __ATOMIC_RELAXED) == address;
}

typedef struct kmm__shelf {
    uint64_t words_used; /* bit w: words[w] != 0 */
    size_t bytes;
    _Atomic size_t count; /* written under the lock of the shelf; read by anyone */
    uint64_t words[KMM__CLASS_WORDS];
    kmm__block_t *classes[KMM__CLASSES];
} kmm__shelf_t;

static inline unsigned kmm__class_of(size_t bytes)
{
    const uint64_t units = bytes >> KMM__UNIT_SHIFT;
    const unsigned shift = 63 - KMM__CLASS_BITS - (unsigned)__builtin_clzll(units | (1u << KMM__CLASS_BITS));
    if (shift >= KMM__CLASS_SHIFTS)
        return KMM__CLASSES - 1;
    return (shift << KMM__CLASS_BITS) + (unsigned)(units >> shift);
}

static inline size_t kmm__shelf_count(const kmm__shelf_t *s) { return atomic_load_explicit(&s->count, memory_order_relaxed); }

/* As the first of its class. */
static inline void kmm__shelf_put(kmm__shelf_t *s, kmm__block_t *b)
{
    const unsigned c = kmm__class_of(b->bytes);
    kmm__block_t *next = s->classes[c];
    b->previous = NULL;
    b->next = next;
    s->classes[c] = b;
    if (next) {
        next->previous = b;
    } else {
        s->words[c / 64] |= (uint64_t)1 << c % 64;
        s->words_used |= (uint64_t)1 << c / 64;
    }
    s->bytes += b->bytes;
    atomic_store_explicit(&s->count, kmm__shelf_count(s) + 1, memory_order_relaxed);
}

static inline void kmm__shelf_take(kmm__shelf_t *s, kmm__block_t *b)
{
    kmm__block_t *next = b->next, *previous = b->previous;
    s->bytes -= b->bytes;
    atomic_store_explicit(&s->count, kmm__shelf_count(s) - 1, memory_order_relaxed);
    if (next)
        next->previous = previous;
    if (previous) {
        previous->next = next;
        return;
    }
    const unsigned c = kmm__class_of(b->bytes);
    s->classes[c] = next;
    if (next)
        return;
    s->words[c / 64] &= ~((uint64_t)1 << c % 64);
    if (s->words[c / 64] == 0)
        s->words_used &= ~((uint64_t)1 << c / 64);
}

/* The first block of the lowest class above c that has one; NULL: there is none. */
static inline kmm__block_t *kmm__shelf_above(const kmm__shelf_t *s, unsigned c)
{
    unsigned w = ++c / 64;
    if (w >= KMM__CLASS_WORDS)
        return NULL;
    uint64_t word = s->words[w] & ~(uint64_t)0 << c % 64;
    if (word == 0) {
        const uint64_t used = s->words_used & ~(uint64_t)1 << w;
        if (used == 0)
            return NULL;
        w = (unsigned)__builtin_ctzll(used);
        word = s->words[w];
    }
    return s->classes[w * 64 + (unsigned)__builtin_ctzll(word)];
}

/* A block of at least `bytes`, of the smallest class that surely has one; looks at a few of the class
 * below too. NULL when there is none. */
static inline kmm__block_t *kmm__shelf_fit(const kmm__shelf_t *s, size_t bytes)
{
    const unsigned c = kmm__class_of(bytes);
    kmm__block_t *best = NULL;
    int probes = 0;
    for (kmm__block_t *b = s->classes[c]; b && probes < KMM__PROBES; b = b->next, probes++) {
        if (b->bytes == bytes)
            return b;
        if (b->bytes > bytes && (!best || b->bytes < best->bytes))
            best = b;
    }
    return best ? best : kmm__shelf_above(s, c);
}

/* The highest class below c that has blocks; 0: there is none. */
unsigned kmm__shelf_below(const kmm__shelf_t *s, unsigned c);
bool kmm__shelf_is_valid(const kmm__shelf_t *s);

#endif
