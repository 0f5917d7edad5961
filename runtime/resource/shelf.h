/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free blocks by size, and in the order they were freed.
 *
 * Sizes are counted in units of 256 bytes and fall into classes: one for each size below 32 units, then
 * 32 to each doubling, so that a class spans 3%. A bitmap over the classes finds the next one that is
 * not empty, so that putting, taking and fitting take constant time however many blocks there are.
 */
#ifndef KMM__RESOURCE_SHELF_H
#define KMM__RESOURCE_SHELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KMM__UNIT_SHIFT = 8, KMM__CLASSES = 1216, KMM__CLASS_WORDS = KMM__CLASSES / 64 };

typedef enum kmm__block_state {
    KMM__BLOCK_UNUSED,
    KMM__BLOCK_LIVE,
    KMM__BLOCK_CACHED,
    KMM__BLOCK_FREE,
    KMM__BLOCK_LEFT, /* only addresses: its frames are elsewhere */
} kmm__block_state_t;

typedef enum kmm__listed { KMM__LISTED_NOWHERE, KMM__LISTED_SMALL, KMM__LISTED_LARGE } kmm__listed_t;

/* A piece of a region. Blocks tile their region: below->address + below->bytes == address. */
typedef struct kmm__block {
    /* One line of the processor's cache, and all that a neighbour or a list looks at: */
    _Alignas(64) uintptr_t address;
    size_t bytes;                       /* a multiple of 256 */
    struct kmm__block *below, *above;   /* neighbours in the region; guarded by the pool's lock */
    struct kmm__block *previous, *next; /* in a class of a shelf, or a list of spare descriptors (next) */
    struct kmm__pool_stream *owner;     /* free: which stream may still use it; NULL: nobody */
    _Atomic kmm__block_state_t state;
    kmm__listed_t listed;               /* which of the pool's tables has the address */
    /* And the rest: */
    uint64_t epoch;                     /* free, with an owner: until this epoch of it */
    size_t asked;                       /* live: what the program asked for */
    struct kmm__region *region;
    struct kmm__block *older, *newer;   /* in a shelf that keeps order */
} kmm__block_t;

typedef struct kmm__shelf {
    uint64_t words_used; /* bit w: words[w] != 0 */
    uint64_t words[KMM__CLASS_WORDS];
    kmm__block_t *classes[KMM__CLASSES];
    bool keeps_order;
    kmm__block_t *oldest, *newest; /* where it keeps order */
    size_t bytes;
    _Atomic size_t count; /* written under the lock of the shelf; read by anyone */
} kmm__shelf_t;

void kmm__shelf_put(kmm__shelf_t *s, kmm__block_t *b); /* as the newest */
void kmm__shelf_take(kmm__shelf_t *s, kmm__block_t *b);
/* A block of at least `bytes`, of the smallest class that surely has one; looks at a few of the class
 * below too. NULL when there is none. */
kmm__block_t *kmm__shelf_fit(const kmm__shelf_t *s, size_t bytes);
bool kmm__shelf_is_valid(const kmm__shelf_t *s);

#endif
