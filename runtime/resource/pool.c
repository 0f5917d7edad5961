/* SPDX-License-Identifier: Apache-2.0 */
/* The pool's paths: cache, shelves, more memory, memory of other streams. */
#include "resource/gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t MIB = (size_t)1 << 20;
enum {
    CACHE_COUNT = 512,
    CACHE_WASTE = 16,  /* a cached block may be 1/16 larger than what it is taken for; */
    LARGE_WASTE = 256, /* a large one, 1/256; */
    EAGER_WASTE = 4,   /* one of a stream that meets others at the lock, 1/4, */
    CACHE_PART = 32, /* a stream caches at most 1/32 of the extent, so that little is kept apart, */
    CACHE_LEAST = 128 << 10, /* or 128 KiB, */
    BLOCK_PART = 512,        /* in blocks of at most 1/512 of that, */
    BLOCK_LEAST = 64 << 10,  /* or of 64 KiB: larger ones are worth more to their neighbours, and */
    LARGE_PART = 4,          /* few are kept, of at most 1/4, */
    LARGE_PATIENCE = 16,
    LARGE_RESTS = 1024, /* and after so many in vain none of the next */
    EAGER_MORE = 8,
    EAGER_BLOCK_PART = 16, /* and such a stream caches so much more, */
    EAGER_LASTS =
        256, /* until its thread has had the lock so often with no other thread in between */
    GROWTH_MOST = 1024, /* MiB */
    MAPPED_GROWTH_PART = 16,
    GROW_TRIES = 4
};

typedef kmm__request_t request_t;

static inline kmm__pool_stream_t *stream_of(kmm__pool_t *p, kmm_stream_t stream)
{
    return (kmm__pool_stream_t *)kmm__timeline_of(&p->timelines, stream);
}

/* Whether the stream has had to wait for the pool's lock of late. */
static inline bool is_eager(const kmm__pool_stream_t *s)
{
    return atomic_load_explicit(&s->eager, memory_order_relaxed) > 0;
}

/* ---- The cache of a stream; with its lock held ---- */

/* Takes place i out of the large blocks. */
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

/* Keeps a block; returns the oldest one when there were enough. */
static kmm__block_t *large_put(kmm__pool_stream_t *s, kmm__block_t *b)
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

static kmm__block_t *large_fit(kmm__pool_stream_t *s, size_t bytes)
{
    for (int i = 0; i < KMM__POOL_LARGE && s->large[i]; i++)
        if (s->large[i]->bytes >= bytes && s->large[i]->bytes - bytes <= bytes / LARGE_WASTE) {
            s->large_misses = 0;
            return large_take(s, i);
        }
    return NULL;
}

static inline kmm__block_t *small_fit(kmm__pool_stream_t *s, size_t bytes)
{
    kmm__block_t *b = s->cache.words_used ? kmm__shelf_fit(&s->cache, bytes) : NULL;
    if (!b || b->bytes - bytes > (is_eager(s) ? bytes / EAGER_WASTE : bytes / CACHE_WASTE))
        return NULL;
    kmm__shelf_take(&s->cache, b);
    return b;
}

/* The block freed last, of just the size: nothing is filed and found again. */
static inline kmm__block_t *last_fit(kmm__pool_stream_t *s, size_t bytes)
{
    kmm__block_t *b = s->last;
    if (!b || b->bytes != bytes)
        return NULL;
    s->last = NULL;
    return b;
}

/* Blocks go out whole, so only blocks that waste little are taken. */
static inline kmm__block_t *cache_take(kmm__pool_stream_t *s, size_t bytes)
{
    kmm__block_t *b = last_fit(s, bytes);
    if (!b)
        b = small_fit(s, bytes);
    if (!b && s->large[0])
        b = large_fit(s, bytes);
    if (b)
        atomic_store_explicit(&b->state, KMM__BLOCK_LIVE, memory_order_relaxed);
    return b;
}

/* Takes blocks until the cache is half empty, the largest first, as a list through `next`: of
 * rounds before this one, or of all. */
static kmm__block_t *cache_spill_some(kmm__pool_stream_t *s, size_t most, bool all,
                                      kmm__block_t *list)
{
    for (unsigned c = KMM__CLASSES; (c = kmm__shelf_below(&s->cache, c));)
        for (kmm__block_t *b = s->cache.classes[c], *next; b; b = next) {
            next = b->next;
            if (s->cache.bytes <= most / 2 && kmm__shelf_count(&s->cache) <= CACHE_COUNT / 2)
                return list;
            if (!all && b->round == s->round)
                continue;
            kmm__shelf_take(&s->cache, b);
            b->next = list;
            list = b;
        }
    return list;
}

/* Empties half of a full cache: first what has been there since before it was full the last time.
 */
static kmm__block_t *cache_spill(kmm__pool_stream_t *s, size_t most)
{
    kmm__block_t *list = cache_spill_some(s, most, false, NULL);
    list = cache_spill_some(s, most, true, list);
    s->round++;
    return list;
}

static inline const kmm__limits_t *limits_of(const kmm__pool_t *p, const kmm__pool_stream_t *s)
{
    return &p->limits[is_eager(s)];
}
static inline size_t limit(const _Atomic size_t *bytes)
{
    return atomic_load_explicit(bytes, memory_order_relaxed);
}

static void lock_eagerly(kmm__pool_t *p, kmm__pool_stream_t *s, bool waits)
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

/* Takes the pool's lock for a stream, and notes whether it had to wait: what is cached apart costs
 * memory, and what everybody shares costs time only where they meet. */
static inline void lock_for(kmm__pool_t *p, kmm__pool_stream_t *s)
{
    const bool waits = !kmm__lock_try(&p->lock);
    if (waits || is_eager(s))
        lock_eagerly(p, s, waits);
}

/* Whether a stream keeps a block that is freed on it. */
static inline bool is_cached(const kmm__pool_stream_t *s, const kmm__limits_t *limits, size_t bytes)
{
    return bytes <= limit(&limits->block) ||
           (bytes <= limit(&limits->most) / LARGE_PART &&
            atomic_load_explicit(&s->large_rest, memory_order_relaxed) == 0);
}

/* Whether a stream may have kept a block of the size. */
static inline bool may_be_cached(const kmm__pool_stream_t *s, const kmm__limits_t *limits,
                                 size_t bytes)
{
    return bytes <= limit(&limits->block) ||
           atomic_load_explicit(&s->large_count, memory_order_relaxed) > 0;
}

static inline bool is_full(const kmm__pool_stream_t *s, size_t most)
{
    return s->cache.bytes > most || kmm__shelf_count(&s->cache) > CACHE_COUNT;
}

/* Puts a block in; returns what has to go to the shelves, as a list through `next`. */
static inline kmm__block_t *cache_put(kmm__pool_stream_t *s, const kmm__limits_t *limits,
                                      kmm__block_t *b)
{
    if (b->bytes <= limit(&limits->block)) {
        kmm__block_t *before = s->last;
        s->last = b;
        b->round = s->round;
        if (!before)
            return NULL;
        kmm__shelf_put(&s->cache, before);
        return is_full(s, limit(&limits->most)) ? cache_spill(s, limit(&limits->most)) : NULL;
    }
    b = large_put(s, b);
    if (b)
        b->next = NULL;
    return b;
}

static void release_list(kmm__pool_t *p, kmm__block_t *list)
{
    while (list) {
        kmm__block_t *next = list->next;
        kmm__heap_free(p, list);
        list = next;
    }
}

static bool flush_stream(kmm__pool_t *p, kmm__pool_stream_t *s)
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
    release_list(p, list);
    return list != NULL;
}

bool kmm__pool_flush(kmm__pool_t *p)
{
    bool any = false;
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next)
        any |= flush_stream(p, (kmm__pool_stream_t *)t);
    return any;
}

/* ---- The shelves; with the pool's lock held ---- */

/* The smaller of what the stream's own shelf and the clean one offer. */
static inline kmm__block_t *fit_own(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *own = p->head.order ? kmm__shelf_fit(&q->stream->shelf, q->need) : NULL;
    if (own && own->bytes == q->need)
        return own;
    kmm__block_t *clean = kmm__shelf_fit(&p->clean, q->need);
    if (!own || !clean)
        return own ? own : clean;
    return own->bytes <= clean->bytes ? own : clean;
}

/* A block of another stream, after making this one wait for it. */
static kmm__block_t *fit_other(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *best = NULL;
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next) {
        kmm__block_t *b = kmm__shelf_fit(&((kmm__pool_stream_t *)t)->shelf, q->need);
        if (b && (!best || b->bytes < best->bytes))
            best = b;
    }
    if (best && best->owner &&
        kmm__timeline_after(&p->timelines, &q->stream->timeline, &best->owner->timeline,
                            best->epoch))
        return NULL;
    return best;
}

static bool is_free(const kmm__block_t *b)
{
    return b && atomic_load_explicit(&b->state, memory_order_relaxed) == KMM__BLOCK_FREE;
}

/* The last block of a run of free blocks from b that is large enough; NULL: the run is too short.
 */
static kmm__block_t *run_end(kmm__block_t *b, size_t need)
{
    size_t bytes = 0;
    for (; is_free(b); b = b->above) {
        bytes += b->bytes;
        if (bytes >= need)
            return b;
    }
    return NULL;
}

static kmm__block_t *join_run(kmm__pool_t *p, const request_t *q, kmm__block_t *first,
                              kmm__block_t *last)
{
    kmm__timeline_t *mine = &q->stream->timeline;
    for (kmm__block_t *b = first;; b = b->above) {
        if (b->owner && b->owner != q->stream &&
            kmm__timeline_after(&p->timelines, mine, &b->owner->timeline, b->epoch))
            return NULL;
        if (b == last)
            break;
    }
    /* The stream waits for all of them now, so the epoch it is in covers them. */
    kmm__lock_take(&mine->lock);
    uint64_t epoch = mine->epoch;
    kmm__lock_drop(&mine->lock);
    return kmm__heap_join(p, first, last, q->stream, epoch);
}

/* Whether free blocks have different owners. */
static bool owners_differ(kmm__pool_t *p)
{
    int owners = kmm__shelf_count(&p->clean) > 0;
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next)
        owners += kmm__shelf_count(&((kmm__pool_stream_t *)t)->shelf) > 0;
    return owners > 1;
}

/* Joins neighbours of different owners into a block that is large enough. The only path that is not
 * of constant time: taken when there is nothing else, and only while such neighbours may exist. */
static kmm__block_t *pool_join(kmm__pool_t *p, const request_t *q)
{
    if (p->shelved < q->need || !owners_differ(p))
        return NULL;
    for (kmm__region_t *r = p->regions; r; r = r->next) {
        if (r->free < q->need)
            continue;
        for (kmm__block_t *b = r->first; b; b = b->above) {
            kmm__block_t *last = is_free(b) && !is_free(b->below) ? run_end(b, q->need) : NULL;
            if (last)
                return join_run(p, q, b, last);
        }
    }
    return NULL;
}

/* Whether there is a block that has its place below what its region has used so far: the extent of
 * a region is what it would need if it ended there, so it grows only when nothing else can be had.
 */
static inline bool is_within_extent(const request_t *q, const kmm__block_t *b)
{
    return b && b->address + q->need <= b->region->address + b->region->extent;
}

/* What a request takes at the end of a region: from 2 MiB on, a multiple of 1/16 of its power of
 * two and of at most 2 MiB. Loads of varying sizes then fit more often into what they have left
 * there; elsewhere they take what they need, and where frames can be gathered. */
static inline size_t generous(const kmm__pool_t *p, size_t bytes)
{
    if (bytes < 2 * MIB || p->head.upstream->mapper)
        return bytes;
    size_t step = (size_t)1 << (63 - __builtin_clzll(bytes) - 4);
    return kmm__round_up(bytes, step < 2 * MIB ? step : 2 * MIB);
}

size_t kmm__pool_used(const kmm__pool_t *p)
{
    return p->listed - p->shelved - p->moving;
}

void kmm__pool_note_used(kmm__pool_t *p)
{
    const size_t used = kmm__pool_used(p);
    if (p->most_used < used)
        p->most_used = used;
}

static inline kmm__block_t *carve(kmm__pool_t *p, const request_t *q, kmm__block_t *b)
{
    if (!b)
        return NULL;
    size_t bytes = b->above ? q->bytes : generous(p, q->bytes);
    b = kmm__heap_carve(p, q->stream, b, q->need - q->bytes + bytes <= b->bytes ? bytes : q->bytes,
                        q->alignment);
    p->live_bytes += b ? (int64_t)q->asked : 0;
    p->live_count += b != NULL;
    kmm__pool_note_used(p);
    return b;
}

static bool others_have(kmm__pool_t *p, const request_t *q)
{
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next)
        if (t != &q->stream->timeline && kmm__shelf_fit(&((kmm__pool_stream_t *)t)->shelf, q->need))
            return true;
    return false;
}

/* All memory that needs no waiting and no mapping. */
static kmm__block_t *take_any(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *b = fit_own(p, q);
    if (!b && p->head.order)
        b = kmm__heap_split_end(p, q->need);
    return carve(p, q, b);
}

/* The same, unless there are frames to gather instead of more extent. */
static kmm__block_t *take_ready(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *b = fit_own(p, q);
    if (is_within_extent(q, b))
        return carve(p, q, b);
    bool more = false;
    if (!b || q->need > limit(&limits_of(p, q->stream)->block))
        more = kmm__pool_flush(p);
    if (p->head.order && (!b || others_have(p, q)))
        more |= kmm__heap_poll(p);
    if (more)
        b = fit_own(p, q);
    if (more && is_within_extent(q, b))
        return carve(p, q, b);
    return kmm__pool_is_worth_gathering(p, q) ? NULL : take_any(p, q);
}

/* Memory that other streams may still use. */
static kmm__block_t *take_pending(kmm__pool_t *p, const request_t *q)
{
    if (!p->head.order)
        return NULL;
    kmm__block_t *b = fit_other(p, q);
    return carve(p, q, b ? b : pool_join(p, q));
}

static void limits_set(kmm__limits_t *l, size_t most, size_t block)
{
    atomic_store_explicit(&l->most, most, memory_order_relaxed);
    atomic_store_explicit(&l->block,
                          block > BLOCK_LEAST ? block
                          : most              ? BLOCK_LEAST
                                              : 0,
                          memory_order_relaxed);
}

void kmm__pool_extend(kmm__pool_t *p, size_t bytes)
{
    const size_t given = p->options.cache_bytes;
    const size_t least = bytes / CACHE_PART > CACHE_LEAST ? bytes / CACHE_PART : CACHE_LEAST;
    const size_t most = given == SIZE_MAX ? 0 : given ? given : least;
    p->extent = bytes;
    limits_set(&p->limits[false], most, most / BLOCK_PART);
    limits_set(&p->limits[true], EAGER_MORE * most, EAGER_MORE * most / EAGER_BLOCK_PART);
}

/* ---- Growth; without the pool's lock ---- */

/* The default: as much as is held, so that regions are few, and what is left over in each matters
 * little. Where frames can be gathered it does not matter, and the pool grows by little. */
static size_t usual_growth(const kmm__pool_t *p)
{
    if (p->head.upstream->mapper)
        return kmm__round_up(p->held / MAPPED_GROWTH_PART + 1,
                             p->head.upstream->mapper->frame_bytes);
    size_t more = p->held < GROWTH_MOST * MIB ? p->held : GROWTH_MOST * MIB;
    return more > p->growth_least ? more : p->growth_least;
}

/* What is got from upstream in whole: of frames, a part of one would be taken and not used. */
static size_t growth_unit(const kmm__pool_t *p)
{
    const kmm__mapper_t *m = p->head.upstream->mapper;
    return m && m->frame_bytes > MIB ? m->frame_bytes : MIB;
}

/* How much to take from upstream for a request, at least `least`; 0: the maximum forbids it. */
static size_t growth(const kmm__pool_t *p, size_t least)
{
    if (least > p->options.maximum_bytes - p->held)
        return 0;
    size_t more = p->options.growth_bytes ? p->options.growth_bytes : usual_growth(p);
    if (more < least)
        more = least > SIZE_MAX - growth_unit(p) ? least : kmm__round_up(least, growth_unit(p));
    return more < p->options.maximum_bytes - p->held ? more : p->options.maximum_bytes - p->held;
}

static int add_memory(kmm__pool_t *p, void *memory, size_t bytes, kmm__pool_stream_t *stream,
                      kmm_stream_t handle)
{
    kmm__lock_take(&p->lock);
    int status = kmm__heap_add_region(p, memory, bytes, p->head.upstream->ordered ? stream : NULL);
    if (status)
        p->held -= bytes;
    kmm__lock_drop(&p->lock);
    if (status)
        kmm__resource_give_back(p->head.upstream, memory, bytes, handle);
    return status;
}

/* Takes `bytes` from upstream, which `held` counts already. */
static int grow_by(kmm__pool_t *p, size_t bytes, kmm__pool_stream_t *stream, kmm_stream_t handle)
{
    void *memory;
    int status = kmm_resource_allocate(p->head.upstream, bytes, 0, handle, &memory);
    if (status == 0)
        return add_memory(p, memory, bytes, stream, handle);
    kmm__lock_take(&p->lock);
    p->held -= bytes;
    kmm__lock_drop(&p->lock);
    return status;
}

/* Takes at least `least` bytes; when there is not as much as one would like, just those. */
static int grow(kmm__pool_t *p, size_t least, kmm__pool_stream_t *stream, kmm_stream_t handle)
{
    kmm__lock_take(&p->lock);
    size_t bytes = growth(p, least);
    p->held += bytes;
    kmm__lock_drop(&p->lock);
    if (bytes == 0)
        return KMM_E_MEMORY;
    int status = grow_by(p, bytes, stream, handle);
    if (status != KMM_E_MEMORY || bytes == least)
        return status;
    kmm__lock_take(&p->lock);
    bool allowed = least <= p->options.maximum_bytes - p->held;
    p->held += allowed ? least : 0;
    kmm__lock_drop(&p->lock);
    return allowed ? grow_by(p, least, stream, handle) : KMM_E_MEMORY;
}

static kmm__block_t *take_locked(kmm__pool_t *p, const request_t *q,
                                 kmm__block_t *(*take)(kmm__pool_t *, const request_t *))
{
    lock_for(p, q->stream);
    kmm__block_t *b = take(p, q);
    kmm__lock_drop(&p->lock);
    return b;
}

/* Another thread may take what we have grown by, so try again a few times. */
static kmm__block_t *take_grown(kmm__pool_t *p, const request_t *q)
{
    for (int i = 0; i < GROW_TRIES; i++) {
        const int status = grow(p, q->need, q->stream, q->handle);
        *q->failure = status == KMM_E_MEMORY ? 0 : status;
        if (status)
            return NULL;
        kmm__block_t *b = take_locked(p, q, take_any);
        if (b)
            return b;
    }
    return NULL;
}

static kmm__block_t *take_gathered(kmm__pool_t *p, const request_t *q)
{
    if (!p->head.upstream->mapper)
        return NULL;
    kmm__block_t *b = kmm__pool_gather(p, q, KMM__GATHER_READY);
    return b ? b : take_locked(p, q, take_any);
}

static kmm__block_t *take_waiting(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *b = take_locked(p, q, take_pending);
    return b || !p->head.upstream->mapper ? b : kmm__pool_gather(p, q, KMM__GATHER_PENDING);
}

static bool may_hold(kmm__pool_t *p, size_t more)
{
    kmm__lock_take(&p->lock);
    bool may = more <= p->options.maximum_bytes - p->held;
    kmm__lock_drop(&p->lock);
    return may;
}

static kmm__block_t *take(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *b = take_locked(p, q, take_ready);
    if (!b)
        b = take_gathered(p, q);
    if (!b && p->options.reuse == KMM_REUSE_WAIT_FIRST)
        b = take_waiting(p, q);
    if (!b)
        b = take_grown(p, q);
    if (!b)
        b = take_waiting(p, q);
    if (b || *q->failure)
        return b;
    /* Nothing fits and upstream has no more: give back what is unused, here and in other pools. */
    kmm__pool_trim(&p->head, 0);
    if (!p->is_alone)
        kmm__pressure(&p->head, may_hold(p, q->need) ? KMM__PRESS_ALL : KMM__PRESS_ABOVE);
    b = take_locked(p, q, take_ready); /* what stands on this pool has given back, too */
    if (!b)
        b = take_grown(p, q);
    return b ? b : take_waiting(p, q);
}

/* ---- The interface ---- */

static inline void count(kmm__pool_stream_t *s, int64_t bytes, int64_t blocks)
{
    s->live_bytes += bytes;
    s->live_count += blocks;
}

static int out_of_memory(kmm__pool_t *p, size_t asked)
{
    kmm__lock_take(&p->lock);
    size_t held = p->held, shelved = p->shelved;
    kmm__lock_drop(&p->lock);
    return kmm__resource_fail(KMM_E_MEMORY,
                              "%s: no %zu bytes: %zu held, %zu unused, at most %zu allowed",
                              p->head.name, asked, held, shelved, p->options.maximum_bytes);
}

static inline kmm__block_t *take_cached(kmm__pool_t *p, kmm__pool_stream_t *s, size_t asked,
                                        size_t bytes)
{
    if (!may_be_cached(s, limits_of(p, s), bytes))
        return NULL;
    kmm__lock_take(&s->timeline.lock);
    kmm__block_t *b = cache_take(s, bytes);
    if (b)
        count(s, (int64_t)asked, 1);
    kmm__lock_drop(&s->timeline.lock);
    return b;
}

static int pool_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                         void **out)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    kmm__pool_stream_t *s = stream_of(p, stream);
    if (!s)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a stream", r->name);
    const size_t whole = kmm__round_up(bytes, KMM_RESOURCE_ALIGNMENT);
    kmm__block_t *b = alignment == KMM_RESOURCE_ALIGNMENT ? take_cached(p, s, bytes, whole) : NULL;
    if (!b) {
        int failure = 0;
        const request_t q = {s,       stream,    bytes,
                             whole,   alignment, whole + alignment - KMM_RESOURCE_ALIGNMENT,
                             &failure};
        b = q.need <= p->options.maximum_bytes ? take(p, &q) : NULL;
        if (!b)
            return failure ? failure : out_of_memory(p, bytes);
    }
    b->asked = bytes;
    *out = (void *)b->address;
    return 0;
}

__attribute__((cold, noinline)) static int fail_address(const kmm__pool_t *p, const void *pointer,
                                                        const kmm__block_t *b)
{
    return kmm__resource_fail(KMM_E_ADDRESS,
                              b ? "%s: %p has been freed already"
                                : "%s: %p is not allocated (freed twice, or not from here)",
                              p->head.name, pointer);
}

/* The block was claimed for nothing. */
__attribute__((cold, noinline)) static int unclaim(const kmm__pool_t *p, const void *pointer,
                                                   size_t bytes, kmm__block_t *b)
{
    const size_t right = b->asked;
    const bool moved = !kmm__block_is_at(
        b, (uintptr_t)pointer); /* another thread has freed it since it was found */
    atomic_store_explicit(&b->state, KMM__BLOCK_LIVE, memory_order_release);
    if (moved)
        return fail_address(p, pointer, b);
    return kmm__resource_fail(KMM_E_INVALID, "%s: %p has %zu bytes, freed with %zu", p->head.name,
                              pointer, right, bytes);
}

/* The block of a live pointer, which is ours alone from now on. */
static inline int claim(kmm__pool_t *p, void *pointer, size_t bytes, kmm__block_t **out)
{
    kmm__block_t *b = *out = kmm__heap_find(p, pointer, bytes);
    if (b)
        __builtin_prefetch(&b->epoch,
                           1); /* the rest of it, before the exchange, which others wait for */
    kmm__block_state_t live = KMM__BLOCK_LIVE;
    if (!b || !atomic_compare_exchange_strong_explicit(&b->state, &live, KMM__BLOCK_CACHED,
                                                       memory_order_acquire, memory_order_relaxed))
        return fail_address(p, pointer, b);
    if ((bytes != KMM_SIZE_RECORDED && bytes != b->asked) ||
        !kmm__block_is_at(b, (uintptr_t)pointer))
        return unclaim(p, pointer, bytes, b);
    return 0;
}

static void put_list(kmm__pool_t *p, kmm__pool_stream_t *s, kmm__block_t *list)
{
    lock_for(p, s);
    release_list(p, list);
    kmm__lock_drop(&p->lock);
}

static inline void put_cached(kmm__pool_t *p, kmm__pool_stream_t *s, const kmm__limits_t *limits,
                              kmm__block_t *b)
{
    kmm__lock_take(&s->timeline.lock);
    count(s, -(int64_t)b->asked, -1);
    kmm__block_t *list = cache_put(s, limits, b);
    kmm__lock_drop(&s->timeline.lock);
    if (list)
        put_list(p, s, list);
}

static void put_shelved(kmm__pool_t *p, kmm__pool_stream_t *s, kmm__block_t *b)
{
    kmm__block_foresee(b);
    lock_for(p, s);
    p->live_bytes -= (int64_t)b->asked;
    p->live_count--;
    kmm__heap_free(p, b);
    const int rest = atomic_load_explicit(&s->large_rest, memory_order_relaxed);
    if (rest > 0)
        atomic_store_explicit(&s->large_rest, rest - 1, memory_order_relaxed);
    kmm__lock_drop(&p->lock);
}

static int pool_deallocate(kmm_resource_t *r, void *pointer, size_t bytes, kmm_stream_t stream)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    kmm__pool_stream_t *s = stream_of(p, stream);
    if (!s)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a stream", r->name);
    kmm__block_t *b;
    const int status = claim(p, pointer, bytes, &b);
    if (status)
        return status;
    const kmm__limits_t *limits = limits_of(p, s);
    b->owner = r->order ? s : NULL;
    b->epoch = atomic_load(&s->timeline.epoch);
    if (is_cached(s, limits, b->bytes))
        put_cached(p, s, limits, b);
    else
        put_shelved(p, s, b);
    return 0;
}

static int pool_size(kmm_resource_t *r, const void *pointer, size_t *bytes)
{
    kmm__block_t *b = kmm__heap_find((kmm__pool_t *)r, pointer, KMM_SIZE_RECORDED);
    if (!b || atomic_load_explicit(&b->state, memory_order_acquire) != KMM__BLOCK_LIVE)
        return kmm__resource_fail(KMM_E_ADDRESS, "%s: %p is not allocated", r->name, pointer);
    *bytes = b->asked;
    return 0;
}

static int pool_usage(kmm_resource_t *r, kmm_resource_usage_t *out)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    kmm__lock_take(&p->lock);
    int64_t bytes = p->live_bytes, blocks = p->live_count;
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next) {
        kmm__lock_take(&t->lock);
        bytes += ((kmm__pool_stream_t *)t)->live_bytes;
        blocks += ((kmm__pool_stream_t *)t)->live_count;
        kmm__lock_drop(&t->lock);
    }
    out->live_bytes =
        bytes > 0
            ? (size_t)bytes
            : 0; /* streams are looked at one after another, while threads allocate and free */
    out->live_count = blocks > 0 ? (size_t)blocks : 0;
    out->held_bytes = p->held;
    out->regions = p->region_count;
    out->extent_bytes = p->extent;
    kmm__lock_drop(&p->lock);
    out->waits = atomic_load(&p->timelines.waits);
    out->events = atomic_load(&p->timelines.events);
    return 0;
}

static int pool_info(kmm_resource_t *r, size_t *available, size_t *total)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    kmm_resource_usage_t usage = {0};
    int status = kmm_resource_memory_info(r->upstream, available, total);
    if (status && status != KMM_E_UNSUPPORTED)
        return status;
    pool_usage(r, &usage);
    size_t limit = p->options.maximum_bytes - usage.held_bytes;
    size_t more = status ? limit : (*available < limit ? *available : limit);
    if (status && p->options.maximum_bytes == SIZE_MAX)
        return status;
    *total = usage.held_bytes + more;
    *available = usage.live_bytes < *total ? *total - usage.live_bytes : 0;
    return 0;
}

static int pool_stream_end(kmm_resource_t *r, kmm_stream_t stream)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    if (!r->order)
        return 0;
    kmm__pool_stream_t *s = stream_of(p, stream);
    if (!s)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a stream", r->name);
    kmm__lock_take(&p->lock);
    flush_stream(p, s);
    atomic_store_explicit(&s->eager, 0,
                          memory_order_relaxed); /* another stream may have its timeline */
    int status = kmm__timeline_end(&p->timelines, stream);
    kmm__lock_drop(&p->lock);
    if (status)
        return kmm__resource_fail(status, "%s: no event could be recorded on a stream that ends",
                                  r->name);
    return kmm_resource_stream_end(r->upstream, stream);
}

static bool pool_holds(kmm_resource_t *r, const void *address)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    bool held = false;
    kmm__lock_take(&p->lock);
    for (const kmm__region_t *region = p->regions; region && !held; region = region->next)
        held = region->address == (uintptr_t)address;
    kmm__lock_drop(&p->lock);
    return held;
}

static bool stream_is_idle(kmm__timeline_t *t)
{
    kmm__pool_stream_t *s = (kmm__pool_stream_t *)t;
    return atomic_load_explicit(&s->shelf.count, memory_order_relaxed) == 0 &&
           atomic_load_explicit(&s->left, memory_order_relaxed) == 0;
}

bool kmm__pool_is_valid(kmm_resource_t *r)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    bool valid = kmm__heap_is_valid(p) && kmm__shelf_is_valid(&p->clean);
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t && valid; t = t->next)
        valid = kmm__shelf_is_valid(&((kmm__pool_stream_t *)t)->cache) &&
                kmm__shelf_is_valid(&((kmm__pool_stream_t *)t)->shelf);
    return valid;
}

/* Waits for all work with freed memory, then gives every region back. */
static int pool_destroy(kmm_resource_t *r)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    kmm_resource_usage_t usage = {0};
    if (!p->is_alone)
        kmm__holder_remove(&p->holder);
    pool_usage(r, &usage);
    int status = kmm__pool_trim(r, 0);
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t && r->order; t = t->next)
        kmm__timeline_settle(&p->timelines, t, ((kmm__pool_stream_t *)t)->newest_epoch);
    for (kmm__region_t *region = p->regions; region; region = region->next)
        kmm__resource_give_back(r->upstream, (void *)region->address, region->bytes, NULL);
    if (usage.live_count)
        status = kmm__resource_fail(KMM_E_STATE, "%s: %zu allocations were left", r->name,
                                    usage.live_count);
    kmm__timelines_deinit(&p->timelines);
    kmm__heap_deinit(p);
    free(p);
    return status;
}

static const kmm__resource_ops_t pool_ops = {
    .allocate = pool_allocate,
    .deallocate = pool_deallocate,
    .size = pool_size,
    .info = pool_info,
    .trim = kmm__pool_trim,
    .stream_end = pool_stream_end,
    .usage = pool_usage,
    .holds = pool_holds,
    .destroy = pool_destroy,
};

static void options_init(kmm_pool_options_t *o, const kmm_pool_options_t *given)
{
    *o = given ? *given : (kmm_pool_options_t){0};
    if (o->maximum_bytes == 0)
        o->maximum_bytes = SIZE_MAX;
    o->maximum_bytes &= ~(KMM_RESOURCE_ALIGNMENT - 1);
    if (o->growth_bytes)
        o->growth_bytes = kmm__round_up(o->growth_bytes, KMM_RESOURCE_ALIGNMENT);
}

/* 1/512 of all memory, between 2 and 256 MiB. */
static size_t least_growth(kmm_resource_t *upstream)
{
    size_t available, total, least = 2 * MIB;
    if (kmm_resource_memory_info(upstream, &available, &total) == 0 && total / 512 > least)
        least = total / 512 < 256 * MIB ? total / 512 & ~(MIB - 1) : 256 * MIB;
    return least;
}

static kmm__pool_t *pool_new(kmm_resource_t *upstream, const kmm_pool_options_t *options,
                             kmm__pool_relation_t relation)
{
    kmm__pool_t *p = aligned_alloc(_Alignof(kmm__pool_t), sizeof(*p));
    if (!p)
        return NULL;
    memset(p, 0, sizeof(*p));
    if (kmm__heap_init(p)) {
        kmm__heap_deinit(p);
        free(p);
        return NULL;
    }
    kmm__resource_init(&p->head, &pool_ops, "pool", upstream);
    p->head.ordered = p->head.order != NULL;
    options_init(&p->options, options);
    p->growth_least = least_growth(upstream);
    kmm__pool_extend(p, 0);
    kmm__timelines_init(&p->timelines, p->head.order, sizeof(kmm__pool_stream_t), stream_is_idle,
                        NULL);
    p->is_alone = relation == KMM__POOL_ALONE;
    if (!p->is_alone)
        kmm__holder_add(&p->holder, &p->head);
    return p;
}

int kmm__pool_create(kmm_resource_t *upstream, const kmm_pool_options_t *options,
                     kmm__pool_relation_t relation, kmm_resource_t **out)
{
    if (!upstream || !out)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "pool: no upstream, or nowhere to put the resource");
    if (options && options->maximum_bytes && options->initial_bytes > options->maximum_bytes)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "pool: initial size %zu is more than the maximum %zu",
                                  options->initial_bytes, options->maximum_bytes);
    if (options && (options->initial_bytes > PTRDIFF_MAX || options->growth_bytes > PTRDIFF_MAX))
        return kmm__resource_fail(KMM_E_INVALID, "pool: a size is absurd");
    kmm__pool_t *p = pool_new(upstream, options, relation);
    if (!p)
        return kmm__resource_fail(KMM_E_MEMORY, "pool: no host memory for the resource");
    size_t initial = kmm__round_up(p->options.initial_bytes, KMM_RESOURCE_ALIGNMENT);
    initial = initial < p->options.maximum_bytes
                  ? initial
                  : p->options.maximum_bytes; /* which has been rounded down */
    if (initial) {
        kmm__pool_stream_t *s = stream_of(p, NULL);
        p->held = initial;
        int status = s ? grow_by(p, initial, s, NULL) : KMM_E_MEMORY;
        if (status) {
            pool_destroy(&p->head);
            return status;
        }
    }
    *out = &p->head;
    return 0;
}

KMM__API int kmm_pool_resource_create(kmm_resource_t *upstream, const kmm_pool_options_t *options,
                                      kmm_resource_t **out)
{
    return kmm__pool_create(upstream, options, KMM__POOL_AMONG_OTHERS, out);
}
