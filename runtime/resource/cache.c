/* SPDX-License-Identifier: Apache-2.0 */
/* A stream's cache, apart from its fast path, which is inline in cache.h: large blocks, spilling
 * half of a full cache to the shelves, and eager streams. */
#include "resource/cache.h"

#include "resource/heap.h"

enum {
    LARGE_WASTE = 256,   /* a large block may exceed its request by 1/256 */
    LARGE_PATIENCE = 16, /* after so many large blocks in a row were kept and not used, */
    LARGE_RESTS = 1024,  /* so many large blocks are not kept */
    EAGER_LASTS = 256 /* a stream stays eager until its thread has taken the lock so often without
                         any other thread in between */
};

/* Removes and returns the i-th of the large blocks. */
static kmm__block_t *large_take(kmm__pool_stream_t *s, int i)
{
    kmm__block_t *b = s->large[i];
    for (; i + 1 < KMM__POOL_LARGE; i++)
        s->large[i] = s->large[i + 1];
    s->large[i] = NULL;
    atomic_store_explicit(&s->large_count,
                          atomic_load_explicit(&s->large_count, memory_order_relaxed) - 1,
                          memory_order_relaxed);
    return b;
}

/* Keeps a large block. Returns the oldest one if there were KMM__POOL_LARGE already, otherwise
 * NULL. */
kmm__block_t *kmm__cache_large_put(kmm__pool_stream_t *s, kmm__block_t *b)
{
    kmm__block_t *oldest = s->large[KMM__POOL_LARGE - 1];
    if (!oldest)
        atomic_store_explicit(&s->large_count,
                              atomic_load_explicit(&s->large_count, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    else if (++s->large_misses == LARGE_PATIENCE) {
        s->large_misses = 0;
        atomic_store_explicit(&s->large_rest, LARGE_RESTS, memory_order_relaxed);
    }
    for (int i = KMM__POOL_LARGE - 1; i > 0; i--)
        s->large[i] = s->large[i - 1];
    s->large[0] = b;
    return oldest;
}

kmm__block_t *kmm__cache_large_fit(kmm__pool_stream_t *s, size_t bytes)
{
    for (int i = 0; i < KMM__POOL_LARGE && s->large[i]; i++)
        if (s->large[i]->bytes >= bytes && s->large[i]->bytes - bytes <= bytes / LARGE_WASTE) {
            s->large_misses = 0;
            return large_take(s, i);
        }
    return NULL;
}

/* Takes blocks out of the cache, largest first, until it is half empty, and puts them in front of
 * `list`. all: also blocks that were freed since the cache was full last. */
static kmm__block_t *cache_spill_some(kmm__pool_stream_t *s, size_t most, bool all,
                                      kmm__block_t *list)
{
    for (unsigned c = KMM__CLASSES; (c = kmm__shelf_below(&s->cache, c));)
        for (kmm__block_t *b = s->cache.classes[c], *next; b; b = next) {
            next = b->next;
            if (s->cache.bytes <= most / 2 && kmm__shelf_count(&s->cache) <= KMM__CACHE_COUNT / 2)
                return list;
            if (!all && b->round == s->round)
                continue;
            kmm__shelf_take(&s->cache, b);
            b->next = list;
            list = b;
        }
    return list;
}

/* Empties half of a full cache. Blocks that were there before the cache was full last go first. */
kmm__block_t *kmm__cache_spill(kmm__pool_stream_t *s, size_t most)
{
    kmm__block_t *list = cache_spill_some(s, most, false, NULL);
    list = cache_spill_some(s, most, true, list);
    s->round++;
    return list;
}

void kmm__pool_lock_eagerly(kmm__pool_t *p, kmm__pool_stream_t *s, bool waits)
{
    if (waits)
        kmm__lock_take(&p->lock);
    const uint64_t me = kmm__thread_number();
    const int eager = atomic_load_explicit(&s->eager, memory_order_relaxed);
    const int more = p->options.cache_bytes      ? 0
                     : !waits && p->locker == me ? eager - 1
                                                 : EAGER_LASTS;
    p->locker = me;
    atomic_store_explicit(&s->eager, more, memory_order_relaxed);
}

void kmm__heap_free_list(kmm__pool_t *p, kmm__block_t *list)
{
    while (list) {
        kmm__block_t *next = list->next;
        kmm__heap_free(p, list);
        list = next;
    }
}

bool kmm__cache_flush(kmm__pool_t *p, kmm__pool_stream_t *s)
{
    kmm__block_t *list = NULL;
    kmm__lock_take(&s->timeline.lock);
    if (s->last)
        kmm__shelf_put(&s->cache, s->last);
    s->last = NULL;
    while (s->large[0])
        kmm__shelf_put(&s->cache, large_take(s, 0));
    for (unsigned c = KMM__CLASSES; (c = kmm__shelf_below(&s->cache, c));)
        for (kmm__block_t *b; (b = s->cache.classes[c]); list = b) {
            kmm__shelf_take(&s->cache, b);
            b->next = list;
        }
    kmm__lock_drop(&s->timeline.lock);
    kmm__heap_free_list(p, list);
    return list != NULL;
}

bool kmm__pool_flush(kmm__pool_t *p)
{
    bool any = false;
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next)
        any |= kmm__cache_flush(p, (kmm__pool_stream_t *)t);
    return any;
}
