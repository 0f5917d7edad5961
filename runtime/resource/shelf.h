/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shelf: free blocks by size.
 *
 * Sizes are counted in units of 256 bytes and fall into classes. Each size below 256 units is a
 * class of its own; above, each doubling has 128 classes, so that a class spans less than 1%. A
 * bitmap over the classes finds the next one that is not empty. So putting, taking and fitting take
 * constant time for any number of blocks. They look at few blocks, each of which may be a cache
 * miss.
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
    /* Number of blocks examined in the request's own class, where some may be too small. */
    KMM__PROBES = 4
};
_Static_assert(KMM__CLASS_WORDS <= 64, "one word tells which words are used");

typedef enum kmm__block_state {
    KMM__BLOCK_UNUSED,
    KMM__BLOCK_LIVE,
    KMM__BLOCK_CACHED,
    KMM__BLOCK_FREE,
    KMM__BLOCK_LEFT, /* addresses only: the block's frames are elsewhere */
} kmm__block_state_t;

/* A piece of a segment. Blocks tile their segment: below->address + below->bytes == address. A
 * block is two cache lines of 64 bytes, which processors fetch as a pair. */
typedef struct kmm__block {
    /* First cache line, with all that neighbours and lists look at: */
    _Alignas(128) uintptr_t address; /* written with kmm__block_place */
    size_t bytes;                    /* a multiple of 256 */
    /* Neighbours in the segment. Guarded by the pool's lock and written with kmm__block_link. */
    struct kmm__block *below, *above;
    /* In a class of a shelf: the next block, and the pointer that points to this one. In
     * another list only `next` is used. */
    struct kmm__block *next, **at;
    /* Of a free block: the stream whose work may still use it; NULL: none. */
    struct kmm__pool_stream *owner;
    _Atomic kmm__block_state_t state;
    uint16_t round; /* of a cached block: the cache's round when it was added */
    /* Second cache line: */
    /* Of a live or cached block: the next in its bucket of the pool's index. */
    _Atomic(struct kmm__block *) same;
    uint64_t epoch; /* of a free block with an owner: the owner may use it until this epoch */
    size_t asked;   /* of a live block: bytes that the program asked for */
    struct kmm__segment *segment;
} kmm__block_t;

/* Threads without the lock compare the address, so it is accessed atomically. */
static inline void kmm__block_place(kmm__block_t *b, uintptr_t address)
{
    __atomic_store_n(&b->address, address, __ATOMIC_RELAXED);
}
static inline bool kmm__block_is_at(const kmm__block_t *b, uintptr_t address)
{
    return __atomic_load_n(&b->address, __ATOMIC_RELAXED) == address;
}

static inline void kmm__block_link(kmm__block_t **to, kmm__block_t *b)
{
    __atomic_store_n(to, b, __ATOMIC_RELAXED);
}

/* Prefetches the neighbours, which freeing the block will look at, before the lock is taken. The
 * neighbours may change meanwhile; nothing depends on the guess. */
static inline void kmm__block_foresee(const kmm__block_t *b)
{
    __builtin_prefetch(__atomic_load_n(&b->below, __ATOMIC_RELAXED), 1);
    __builtin_prefetch(__atomic_load_n(&b->above, __ATOMIC_RELAXED), 1);
}

typedef struct kmm__shelf {
    uint64_t words_used; /* bit w: words[w] != 0 */
    size_t bytes;
    _Atomic size_t count; /* written under the shelf's lock; read by anyone */
    struct kmm__block **nowhere;
    uint64_t words[KMM__CLASS_WORDS];
    kmm__block_t *classes[KMM__CLASSES + 1]; /* the last one is always NULL */
} kmm__shelf_t;

static inline unsigned kmm__class_of(size_t bytes)
{
    const uint64_t units = bytes >> KMM__UNIT_SHIFT;
    const unsigned shift =
        63 - KMM__CLASS_BITS - (unsigned)__builtin_clzll(units | (1u << KMM__CLASS_BITS));
    if (shift >= KMM__CLASS_SHIFTS)
        return KMM__CLASSES - 1;
    return (shift << KMM__CLASS_BITS) + (unsigned)(units >> shift);
}

static inline size_t kmm__shelf_count(const kmm__shelf_t *s)
{
    return atomic_load_explicit(&s->count, memory_order_relaxed);
}

/*
 * Putting and taking avoid branches. Sizes come at random, so a processor mispredicts whether a
 * class has another block, and a misprediction costs more than the rest. Stores without a target go
 * to `nowhere`.
 */

/* Adds a block as the first of its class. */
static inline void kmm__shelf_put(kmm__shelf_t *s, kmm__block_t *b)
{
    const unsigned c = kmm__class_of(b->bytes);
    kmm__block_t *next = s->classes[c];
    b->next = next;
    b->at = &s->classes[c];
    *(next ? &next->at : &s->nowhere) = &b->next;
    s->classes[c] = b;
    s->words[c / 64] |= (uint64_t)1 << c % 64;
    s->words_used |= (uint64_t)1 << c / 64;
    s->bytes += b->bytes;
    atomic_store_explicit(&s->count, kmm__shelf_count(s) + 1, memory_order_relaxed);
}

static inline void kmm__shelf_take(kmm__shelf_t *s, kmm__block_t *b)
{
    kmm__block_t *next = b->next, **at = b->at;
    s->bytes -= b->bytes;
    atomic_store_explicit(&s->count, kmm__shelf_count(s) - 1, memory_order_relaxed);
    *at = next;
    *(next ? &next->at : &s->nowhere) = at;
    const uintptr_t place = ((uintptr_t)at - (uintptr_t)s->classes) / sizeof(*at);
    const bool first = place < KMM__CLASSES;
    const size_t c = first ? place : 0, w = c / 64;
    s->words[w] &= ~((uint64_t)(first & !next)
                     << c % 64); /* clears the bit of a class that has become empty */
    s->words_used &= ~((uint64_t)(s->words[w] == 0) << w);
}

/* Returns the lowest class from c on that has blocks; KMM__CLASSES: there is none. */
static inline unsigned kmm__shelf_from(const kmm__shelf_t *s, unsigned c)
{
    const unsigned w = c / 64;
    const uint64_t here = s->words[w] & ~(uint64_t)0 << c % 64;
    const uint64_t later = s->words_used & ~(uint64_t)1 << w;
    if ((here | later) == 0)
        return KMM__CLASSES;
    const unsigned v = here ? w : (unsigned)__builtin_ctzll(later);
    const uint64_t word = here ? here : s->words[v];
    return v * 64 + (unsigned)__builtin_ctzll(word);
}

/* Returns a block of at least `bytes` from the smallest class in which all blocks are large
 * enough. A few blocks of the class below are examined first. NULL: there is none. */
static inline kmm__block_t *kmm__shelf_fit(const kmm__shelf_t *s, size_t bytes)
{
    unsigned c = kmm__class_of(bytes), found = kmm__shelf_from(s, c);
    if (found == c) {
        kmm__block_t *best = NULL;
        int probes = 0;
        for (kmm__block_t *b = s->classes[c]; b && probes < KMM__PROBES; b = b->next, probes++) {
            if (b->bytes == bytes)
                return b;
            if (b->bytes > bytes && (!best || b->bytes < best->bytes))
                best = b;
        }
        if (best)
            return best;
        found = c + 1 < KMM__CLASSES ? kmm__shelf_from(s, c + 1) : KMM__CLASSES;
    }
    return s->classes[found];
}

/* Returns the highest class below c that has blocks; 0: there is none. */
unsigned kmm__shelf_below(const kmm__shelf_t *s, unsigned c);
bool kmm__shelf_is_valid(const kmm__shelf_t *s);

#endif
