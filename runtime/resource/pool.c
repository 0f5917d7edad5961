/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool. A request is served from the first of these that has memory:
 *
 *   1. its stream's cache,
 *   2. memory of the pool that needs no waiting,
 *   3. scattered free frames, gathered,
 *   4. more memory from upstream,
 *   5. memory that other streams still use.
 *
 * If none has, this pool and others return unused memory upstream, and the search starts again.
 */
#include "resource/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resource/cache.h"
#include "resource/descriptor.h"
#include "resource/fit.h"
#include "resource/gather.h"
#include "resource/growth.h"
#include "resource/heap.h"
#include "resource/index.h"
#include "resource/pool_check.h"
#include "resource/segment.h"
#include "resource/trim.h"

static const size_t MIB = (size_t)1 << 20;
enum { GROW_TRIES = 4 };

typedef kmm__request_t request_t;

static inline kmm__pool_stream_t *kmm__pool_stream_of(kmm__pool_t *p, kmm_stream_t stream)
{
    return (kmm__pool_stream_t *)kmm__timeline_of(&p->timelines, stream);
}

/* Calls `take` with the lock held. Inlined, so that `take` is called directly: most requests that
 * miss the cache come here. */
__attribute__((always_inline)) static inline kmm__block_t *
take_locked(kmm__pool_t *p, const request_t *q,
            kmm__block_t *(*take)(kmm__pool_t *, const request_t *))
{
    kmm__pool_lock_for(p, q->stream);
    kmm__block_t *b = take(p, q);
    kmm__pool_unlock(p);
    return b;
}

/* Grows, and takes from the new memory. Another thread may take that memory first, so a few more
 * tries follow. */
static kmm__block_t *take_grown(kmm__pool_t *p, const request_t *q)
{
    for (int i = 0; i < GROW_TRIES; i++) {
        const int status = kmm__pool_grow(p, q->need, q->stream, q->handle);
        *q->failure = status == KMM_E_MEMORY ? 0 : status;
        if (status)
            return NULL;
        kmm__block_t *b = take_locked(p, q, kmm__take_any);
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
    return b ? b : take_locked(p, q, kmm__take_any);
}

static kmm__block_t *take_waiting(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *b = take_locked(p, q, kmm__take_pending);
    return b || !p->head.upstream->mapper ? b : kmm__pool_gather(p, q, KMM__GATHER_PENDING);
}

static bool may_hold(kmm__pool_t *p, size_t more)
{
    kmm__lock_take(&p->lock);
    bool may = more <= p->options.maximum_bytes - p->held;
    kmm__pool_unlock(p);
    return may;
}

/* On memory that can be mapped, if the extent is not to grow for the request: takes what other
 * streams may still use. */
static kmm__block_t *take_instead(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *b = NULL;
    if (!p->head.upstream->mapper)
        return NULL;
    kmm__lock_take(&p->lock);
    bool is_full = kmm__pool_is_full(p, q);
    if (is_full)
        b = kmm__take_pending(p, q);
    kmm__pool_unlock(p);
    return b || !is_full ? b : kmm__pool_gather(p, q, KMM__GATHER_WAIT);
}

static kmm__block_t *take(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *b = take_locked(p, q, kmm__take_ready);
    if (!b)
        b = take_gathered(p, q);
    if (!b)
        b = p->options.reuse == KMM_REUSE_WAIT_FIRST ? take_waiting(p, q) : take_instead(p, q);
    if (!b)
        b = take_grown(p, q);
    if (!b)
        b = take_waiting(p, q);
    if (b || *q->failure)
        return b;
    /* Nothing fits, and upstream has no more memory. This pool and others give back what is unused.
     */
    kmm__pool_trim(&p->head, 0);
    if (!p->is_alone)
        kmm__pressure(&p->head, may_hold(p, q->need) ? KMM__PRESS_ALL : KMM__PRESS_ABOVE);
    b = take_locked(
        p, q, kmm__take_ready); /* pools that are built on this one have given memory back too */
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
    kmm__pool_unlock(p);
    return kmm__resource_fail(KMM_E_MEMORY,
                              "%s: no %zu bytes: %zu held, %zu unused, at most %zu allowed",
                              p->head.name, asked, held, shelved, p->options.maximum_bytes);
}

static inline kmm__block_t *take_cached(kmm__pool_t *p, kmm__pool_stream_t *s, size_t asked,
                                        size_t bytes)
{
    if (!kmm__cache_may_have(s, kmm__limits_of(p, s), bytes))
        return NULL;
    kmm__lock_take(&s->timeline.lock);
    kmm__block_t *b = kmm__cache_take(s, bytes);
    if (b)
        count(s, (int64_t)asked, 1);
    kmm__lock_drop(&s->timeline.lock);
    return b;
}

static int pool_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                         void **out)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    kmm__pool_stream_t *s = kmm__pool_stream_of(p, stream);
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

/* Makes a block live again that was claimed by mistake, and returns the error. */
__attribute__((cold, noinline)) static int unclaim(const kmm__pool_t *p, const void *pointer,
                                                   size_t bytes, kmm__block_t *b)
{
    const size_t right = b->asked;
    /* The block was found by a stale descriptor: another thread has freed it since. */
    const bool moved = !kmm__block_is_at(b, (uintptr_t)pointer);
    atomic_store_explicit(&b->state, KMM__BLOCK_LIVE, memory_order_release);
    if (moved)
        return fail_address(p, pointer, b);
    return kmm__resource_fail(KMM_E_INVALID, "%s: %p has %zu bytes, freed with %zu", p->head.name,
                              pointer, right, bytes);
}

/* Finds the block of a live pointer and claims it: no other thread can free it from now on. */
static inline int claim(kmm__pool_t *p, void *pointer, size_t bytes, kmm__block_t **out)
{
    kmm__block_t *b = *out = kmm__heap_find(p, pointer, bytes);
    if (b)
        __builtin_prefetch(&b->epoch, 1); /* fetches the second line of the block before the
                                             exchange, which other threads may wait for */
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
    kmm__pool_lock_for(p, s);
    kmm__heap_free_list(p, list);
    kmm__pool_unlock(p);
}

static inline void put_cached(kmm__pool_t *p, kmm__pool_stream_t *s, const kmm__limits_t *limits,
                              kmm__block_t *b)
{
    kmm__lock_take(&s->timeline.lock);
    count(s, -(int64_t)b->asked, -1);
    kmm__block_t *list = kmm__cache_put(s, limits, b);
    kmm__lock_drop(&s->timeline.lock);
    if (list)
        put_list(p, s, list);
}

static void put_shelved(kmm__pool_t *p, kmm__pool_stream_t *s, kmm__block_t *b)
{
    kmm__block_foresee(b);
    kmm__pool_lock_for(p, s);
    p->live_bytes -= (int64_t)b->asked;
    p->live_count--;
    kmm__heap_free(p, b);
    const int rest = atomic_load_explicit(&s->large_rest, memory_order_relaxed);
    if (rest > 0)
        atomic_store_explicit(&s->large_rest, rest - 1, memory_order_relaxed);
    kmm__pool_unlock(p);
}

static int pool_deallocate(kmm_resource_t *r, void *pointer, size_t bytes, kmm_stream_t stream)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    kmm__pool_stream_t *s = kmm__pool_stream_of(p, stream);
    if (!s)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a stream", r->name);
    kmm__block_t *b;
    const int status = claim(p, pointer, bytes, &b);
    if (status)
        return status;
    const kmm__limits_t *limits = kmm__limits_of(p, s);
    b->owner = r->order ? s : NULL;
    b->epoch = atomic_load(&s->timeline.epoch);
    if (kmm__cache_takes(s, limits, b->bytes))
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
            : 0; /* the sum may be negative: threads allocate and free while streams are added up */
    out->live_count = blocks > 0 ? (size_t)blocks : 0;
    out->held_bytes = p->held;
    out->regions = p->segment_count;
    out->extent_bytes = p->extent;
    kmm__pool_unlock(p);
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
    kmm__pool_stream_t *s = kmm__pool_stream_of(p, stream);
    if (!s)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a stream", r->name);
    kmm__lock_take(&p->lock);
    kmm__cache_flush(p, s);
    atomic_store_explicit(&s->eager, 0,
                          memory_order_relaxed); /* the timeline may be given to another stream */
    int status = kmm__timeline_end(&p->timelines, stream);
    kmm__pool_unlock(p);
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
    for (const kmm__segment_t *segment = p->segments; segment && !held; segment = segment->next)
        held = segment->address == (uintptr_t)address;
    kmm__pool_unlock(p);
    return held;
}

static bool stream_is_idle(kmm__timeline_t *t)
{
    kmm__pool_stream_t *s = (kmm__pool_stream_t *)t;
    return atomic_load_explicit(&s->shelf.count, memory_order_relaxed) == 0 &&
           atomic_load_explicit(&s->left, memory_order_relaxed) == 0;
}

static void pool_free(kmm__pool_t *p)
{
    kmm__segments_deinit(p);
    kmm__descriptors_deinit(p);
    kmm__index_deinit(p);
    free(p);
}

/* Waits for all work that uses freed memory, then gives every segment back. */
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
    for (kmm__segment_t *segment = p->segments; segment; segment = segment->next)
        kmm__resource_give_back(r->upstream, (void *)segment->address, segment->bytes, NULL);
    if (usage.live_count)
        status = kmm__resource_fail(KMM_E_STATE, "%s: %zu allocations were left", r->name,
                                    usage.live_count);
    kmm__timelines_deinit(&p->timelines);
    pool_free(p);
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

/* Returns 1/512 of upstream's memory, between 2 and 256 MiB. */
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
    if (kmm__index_init(p)) {
        pool_free(p);
        return NULL;
    }
    kmm__resource_init(&p->head, &pool_ops, "pool", upstream);
    p->head.ordered = p->head.order != NULL;
    options_init(&p->options, options);
    p->growth_least = least_growth(upstream);
    kmm__pool_extend(p, 0);
    kmm__timelines_init(&p->timelines, p->head.order, sizeof(kmm__pool_stream_t), stream_is_idle,
                        NULL);
    p->is_alone = relation != KMM__POOL_AMONG_OTHERS;
    p->is_keeping = relation == KMM__POOL_KEEPING;
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
                  : p->options.maximum_bytes; /* the maximum was rounded down */
    if (initial) {
        kmm__pool_stream_t *s = kmm__pool_stream_of(p, NULL);
        p->held = initial;
        int status = s ? kmm__pool_grow_by(p, initial, s, NULL) : KMM_E_MEMORY;
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
