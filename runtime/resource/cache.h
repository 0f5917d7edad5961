/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of a stream: blocks that were freed on it, kept for its next requests. Larger blocks
 * are worth more to their neighbours: of those few are kept. Guarded by the stream's lock.
 *
 *   eager   a stream whose thread has had to wait for the pool's lock of late. It caches more: what
 *           is cached apart costs memory, and what all share costs time only where threads meet.
 */
#ifndef KMM__RESOURCE_CACHE_H
#define KMM__RESOURCE_CACHE_H

#include "resource/pool_state.h"

enum {
    KMM__LARGE_PART = 4,    /* a block of at most 1/4 of what a stream caches is kept; */
    KMM__CACHE_COUNT = 512, /* so many blocks at most; */
    KMM__CACHE_WASTE = 16,  /* one may be 1/16 larger than what it is taken for; */
    KMM__EAGER_WASTE = 4    /* one of an eager stream, 1/4 */
};

/* Whether the stream has had to wait for the pool's lock of late. */
static inline bool kmm__is_eager(const kmm__pool_stream_t *s)
{
    return atomic_load_explicit(&s->eager, memory_order_relaxed) > 0;
}

static inline const kmm__limits_t *kmm__limits_of(const kmm__pool_t *p, const kmm__pool_stream_t *s)
{
    return &p->limits[kmm__is_eager(s)];
}

/* Whether a stream keeps a block that is freed on it. */
static inline bool kmm__cache_takes(const kmm__pool_stream_t *s, const kmm__limits_t *limits,
                                    size_t bytes)
{
    return bytes <= kmm__limit(&limits->block) ||
           (bytes <= kmm__limit(&limits->most) / KMM__LARGE_PART &&
            atomic_load_explicit(&s->large_rest, memory_order_relaxed) == 0);
}

/* Whether a stream may have kept a block of the size. */
static inline bool kmm__cache_may_have(const kmm__pool_stream_t *s, const kmm__limits_t *limits,
                                       size_t bytes)
{
    return bytes <= kmm__limit(&limits->block) ||
           atomic_load_explicit(&s->large_count, memory_order_relaxed) > 0;
}

/* With the stream's lock held: */

/* A large block that wastes little; NULL: there is none. */
kmm__block_t *kmm__cache_large_fit(kmm__pool_stream_t *s, size_t bytes);
/* Keeps a large block. Returns the oldest one when there were enough, else NULL. */
kmm__block_t *kmm__cache_large_put(kmm__pool_stream_t *s, kmm__block_t *b);
/* Empties half of a full cache of at most `most` bytes, as a list through `next`: first what has
 * been there since before it was full the last time. */
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

/* The block freed last, of just the size: nothing is filed and found again. */
static inline kmm__block_t *kmm__cache_last_fit(kmm__pool_stream_t *s, size_t bytes)
{
    kmm__block_t *b = s->last;
    if (!b || b->bytes != bytes)
        return NULL;
    s->last = NULL;
    return b;
}

/* Blocks go out whole, so only blocks that waste little are taken. */
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

/* Puts a block in; returns what has to go to the shelves, as a list through `next`. */
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

/* With the pool's lock held: moves a stream's cache, or all caches, to the shelves. Whether there
 * was anything in them. */
bool kmm__cache_flush(kmm__pool_t *p, kmm__pool_stream_t *s);
bool kmm__pool_flush(kmm__pool_t *p);
/* Makes the blocks of a list, which are live or cached, free. */
void kmm__heap_free_list(kmm__pool_t *p, kmm__block_t *list);

/* Takes the pool's lock for a stream, and notes whether it had to wait. */
void kmm__pool_lock_eagerly(kmm__pool_t *p, kmm__pool_stream_t *s, bool waits);
static inline void kmm__pool_lock_for(kmm__pool_t *p, kmm__pool_stream_t *s)
{
    const bool waits = !kmm__lock_try(&p->lock);
    if (waits || kmm__is_eager(s))
        kmm__pool_lock_eagerly(p, s, waits);
}

#endif
