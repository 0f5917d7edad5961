/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream's cache: blocks that were freed on the stream and are kept for its next requests. Few
 * large blocks are kept, since other streams need them more. Guarded by the stream's lock.
 *
 *   eager   a stream whose thread recently had to wait for the pool's lock. It caches more. A
 *           larger cache costs memory; a shared shelf costs time only where threads contend for it.
 */
#ifndef KMM__RESOURCE_CACHE_H
#define KMM__RESOURCE_CACHE_H

#include "resource/pool_state.h"

enum {
    KMM__LARGE_PART = 4,    /* largest block: 1/4 of the cache's limit in bytes */
    KMM__CACHE_COUNT = 512, /* maximum number of blocks */
    KMM__CACHE_WASTE = 16,  /* a block may exceed its request by 1/16 */
    KMM__EAGER_WASTE = 4    /* the same for an eager stream: by 1/4 */
};

/* True if the stream recently had to wait for the pool's lock. */
static inline bool kmm__is_eager(const kmm__pool_stream_t *s)
{
    return atomic_load_explicit(&s->eager, memory_order_relaxed) > 0;
}

static inline const kmm__limits_t *kmm__limits_of(const kmm__pool_t *p, const kmm__pool_stream_t *s)
{
    return &p->limits[kmm__is_eager(s)];
}

/* True if the stream keeps a block of this size when it is freed there. */
static inline bool kmm__cache_takes(const kmm__pool_stream_t *s, const kmm__limits_t *limits,
                                    size_t bytes)
{
    return bytes <= kmm__limit(&limits->block) ||
           (bytes <= kmm__limit(&limits->most) / KMM__LARGE_PART &&
            atomic_load_explicit(&s->large_rest, memory_order_relaxed) == 0);
}

/* True if the stream's cache may hold a block of this size. */
static inline bool kmm__cache_may_have(const kmm__pool_stream_t *s, const kmm__limits_t *limits,
                                       size_t bytes)
{
    return bytes <= kmm__limit(&limits->block) ||
           atomic_load_explicit(&s->large_count, memory_order_relaxed) > 0;
}

/* ---- The caller holds the stream's lock ---- */

/* Takes a large block that exceeds the request by little; NULL: there is none. */
kmm__block_t *kmm__cache_large_fit(kmm__pool_stream_t *s, size_t bytes);
/* Keeps a large block. Returns the oldest one if it was displaced, else NULL. */
kmm__block_t *kmm__cache_large_put(kmm__pool_stream_t *s, kmm__block_t *b);
/* Removes half of a full cache of at most `most` bytes and returns it as a list through `next`.
 * Blocks that have been there since before the cache was last full go first. */
kmm__block_t *kmm__cache_spill(kmm__pool_stream_t *s, size_t most);

static inline kmm__block_t *kmm__cache_small_fit(kmm__pool_stream_t *s, size_t bytes)
{
    kmm__block_t *b = s->cache.words_used ? kmm__shelf_fit(&s->cache, bytes) : NULL;
    if (!b ||
        b->bytes - bytes > (kmm__is_eager(s) ? bytes / KMM__EAGER_WASTE : bytes / KMM__CACHE_WASTE))
        return NULL;
    kmm__shelf_take(&s->cache, b);
    return b;
}

/* Takes the block that was freed last if it has exactly this size. This is the fast path: it
 * does not touch the shelf. */
static inline kmm__block_t *kmm__cache_last_fit(kmm__pool_stream_t *s, size_t bytes)
{
    kmm__block_t *b = s->last;
    if (!b || b->bytes != bytes)
        return NULL;
    s->last = NULL;
    return b;
}

/* Cached blocks are not split, so a block fits only if it wastes little. */
static inline kmm__block_t *kmm__cache_take(kmm__pool_stream_t *s, size_t bytes)
{
    kmm__block_t *b = kmm__cache_last_fit(s, bytes);
    if (!b)
        b = kmm__cache_small_fit(s, bytes);
    if (!b && s->large[0])
        b = kmm__cache_large_fit(s, bytes);
    if (b)
        atomic_store_explicit(&b->state, KMM__BLOCK_LIVE, memory_order_relaxed);
    return b;
}

static inline bool kmm__cache_is_full(const kmm__pool_stream_t *s, size_t most)
{
    return s->cache.bytes > most || kmm__shelf_count(&s->cache) > KMM__CACHE_COUNT;
}

/* Adds a block. Returns the blocks that must move to the shelves, as a list through `next`. */
static inline kmm__block_t *kmm__cache_put(kmm__pool_stream_t *s, const kmm__limits_t *limits,
                                           kmm__block_t *b)
{
    if (b->bytes <= kmm__limit(&limits->block)) {
        kmm__block_t *before = s->last;
        s->last = b;
        b->round = s->round;
        if (!before)
            return NULL;
        kmm__shelf_put(&s->cache, before);
        return kmm__cache_is_full(s, kmm__limit(&limits->most))
                   ? kmm__cache_spill(s, kmm__limit(&limits->most))
                   : NULL;
    }
    b = kmm__cache_large_put(s, b);
    if (b)
        b->next = NULL;
    return b;
}

/* The caller holds the pool's lock. Moves the cache of one stream, or of all streams, to the
 * shelves. Returns true if a block was moved. */
bool kmm__cache_flush(kmm__pool_t *p, kmm__pool_stream_t *s);
bool kmm__pool_flush(kmm__pool_t *p);
/* Frees the live or cached blocks of a list. */
void kmm__heap_free_list(kmm__pool_t *p, kmm__block_t *list);

/* Takes the pool's lock for a stream and records whether the stream had to wait. */
void kmm__pool_lock_eagerly(kmm__pool_t *p, kmm__pool_stream_t *s, bool waits);
static inline void kmm__pool_lock_for(kmm__pool_t *p, kmm__pool_stream_t *s)
{
    const bool waits = !kmm__lock_try(&p->lock);
    if (waits || kmm__is_eager(s))
        kmm__pool_lock_eagerly(p, s, waits);
}

#endif
