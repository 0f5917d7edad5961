/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks that tile segments, and the shelves of free blocks. The caller holds the pool's
 * lock. */
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

/* Puts a free block on its owner's shelf, or on the clean shelf if it has no owner, and counts
 * its bytes there; unshelve takes it off. */
void kmm__heap_shelve(kmm__pool_t *p, kmm__block_t *b);
void kmm__heap_unshelve(kmm__pool_t *p, kmm__block_t *b);
/* Removes a live or cached block from the index and makes it free. */
void kmm__heap_free(kmm__pool_t *p, kmm__block_t *b);
/* Makes a block free and merges it with free neighbours of the same owner. Returns the merged
 * block. */
kmm__block_t *kmm__heap_release(kmm__pool_t *p, kmm__block_t *b);
/* Cuts `bytes` at `start` out of a free block. The piece keeps the block's tag and is on no
 * shelf; the rest stays free. NULL: the host has no memory. */
kmm__block_t *kmm__heap_cut(kmm__pool_t *p, kmm__block_t *b, uintptr_t start, size_t bytes);
/* Raises the extent of the block's segment to the block's end. */
void kmm__heap_extend(kmm__pool_t *p, const kmm__block_t *b);
/* Makes `bytes` of a free block, at a multiple of `alignment`, live for a stream. The rest stays
 * free. NULL: the host has no memory. */
kmm__block_t *kmm__heap_carve(kmm__pool_t *p, kmm__pool_stream_t *s, kmm__block_t *b, size_t bytes,
                              size_t alignment);
/* Merges the adjacent free blocks from first to last into one block of a new owner. */
kmm__block_t *kmm__heap_join(kmm__pool_t *p, kmm__block_t *first, kmm__block_t *last,
                             kmm__pool_stream_t *owner, uint64_t epoch);
/* Looks for a segment whose last block has an owner and a clean end of at least `need` bytes.
 * Makes that end a block of its own and returns it; NULL: there is none. */
kmm__block_t *kmm__heap_split_end(kmm__pool_t *p, size_t need);
/* Clears the owner of blocks whose epoch has passed. Returns true if there were any. */
bool kmm__heap_poll(kmm__pool_t *p);

#endif
