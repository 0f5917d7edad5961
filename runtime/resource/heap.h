/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks that tile segments, and the shelves of free ones. With the pool's lock held. */
#ifndef KMM__RESOURCE_HEAP_H
#define KMM__RESOURCE_HEAP_H

#include "resource/pool_state.h"

static inline bool kmm__block_is_free(const kmm__block_t *b)
{
    return b && atomic_load_explicit(&b->state, memory_order_relaxed) == KMM__BLOCK_FREE;
}

static inline bool kmm__block_is_left(const kmm__block_t *b)
{
    return atomic_load_explicit(&b->state, memory_order_relaxed) == KMM__BLOCK_LEFT;
}

/* Puts a block on its owner's shelf, or the clean one, and counts its bytes there; and takes it
 * off.
 */
void kmm__heap_shelve(kmm__pool_t *p, kmm__block_t *b);
void kmm__heap_unshelve(kmm__pool_t *p, kmm__block_t *b);
/* Takes a live or cached block out of the index, and makes it free. */
void kmm__heap_free(kmm__pool_t *p, kmm__block_t *b);
/* Makes a block free, joining it with its neighbours of the same owner. Returns what it has become.
 */
kmm__block_t *kmm__heap_release(kmm__pool_t *p, kmm__block_t *b);
/* Takes `bytes` at `start` out of a free block, which keep its tag and are on no shelf; the rest
 * stays free. NULL: the host has no memory. */
kmm__block_t *kmm__heap_cut(kmm__pool_t *p, kmm__block_t *b, uintptr_t start, size_t bytes);
/* The extent of the block's segment reaches the block's end at least. */
void kmm__heap_extend(kmm__pool_t *p, const kmm__block_t *b);
/* Makes a free block live, for a stream: `bytes` of it at a multiple of `alignment`; the rest stays
 * free. NULL: the host has no memory. */
kmm__block_t *kmm__heap_carve(kmm__pool_t *p, kmm__pool_stream_t *s, kmm__block_t *b, size_t bytes,
                              size_t alignment);
/* Merges the free blocks first to last, which are neighbours, for a new owner. */
kmm__block_t *kmm__heap_join(kmm__pool_t *p, kmm__block_t *first, kmm__block_t *last,
                             kmm__pool_stream_t *owner, uint64_t epoch);
/* Cuts off the clean part of a last block that has an owner, if it has `need` bytes; NULL: there is
 * none. */
kmm__block_t *kmm__heap_split_end(kmm__pool_t *p, size_t need);
/* Takes owners away from blocks whose epoch has passed; whether there are any. */
bool kmm__heap_poll(kmm__pool_t *p);

#endif
