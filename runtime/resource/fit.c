/* SPDX-License-Identifier: Apache-2.0 */
/* Finds memory within what the pool has. A block that only this stream may still use, or none,
 * comes first. Then come blocks of other streams, and last several neighbouring blocks of different
 * streams, joined. */
#include "resource/fit.h"

#include "resource/cache.h"
#include "resource/gather.h"
#include "resource/heap.h"

static const size_t MIB = (size_t)1 << 20;

typedef kmm__request_t request_t;

/* Returns the smaller of the blocks that the stream's own shelf and the clean shelf offer. */
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

/* Returns the smallest block that other streams own and that is large enough, after making this
 * stream wait for its owner. */
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

/* Returns the last block of the shortest run of free blocks from b that has `need` bytes. NULL: the
 * run of free blocks is too short. */
static kmm__block_t *run_end(kmm__block_t *b, size_t need)
{
    size_t bytes = 0;
    for (; kmm__block_is_free(b); b = b->above) {
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
    /* The stream waits for all the blocks' owners now, so its current epoch covers them. */
    kmm__lock_take(&mine->lock);
    uint64_t epoch = mine->epoch;
    kmm__lock_drop(&mine->lock);
    return kmm__heap_join(p, first, last, q->stream, epoch);
}

/* True if free blocks have at least two different owners. */
static bool owners_differ(kmm__pool_t *p)
{
    int owners = kmm__shelf_count(&p->clean) > 0;
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next)
        owners += kmm__shelf_count(&((kmm__pool_stream_t *)t)->shelf) > 0;
    return owners > 1;
}

/* Joins neighbouring blocks of different owners into one that is large enough. This takes time
 * proportional to the number of blocks. So it is tried last, and only if such neighbours may exist.
 */
static kmm__block_t *pool_join(kmm__pool_t *p, const request_t *q)
{
    if (p->shelved < q->need || !owners_differ(p))
        return NULL;
    for (kmm__segment_t *r = p->segments; r; r = r->next) {
        if (r->free < q->need)
            continue;
        for (kmm__block_t *b = r->first; b; b = b->above) {
            kmm__block_t *last =
                kmm__block_is_free(b) && !kmm__block_is_free(b->below) ? run_end(b, q->need) : NULL;
            if (last)
                return join_run(p, q, b, last);
        }
    }
    return NULL;
}

/* True if the request fits into the block without raising the extent of its segment (the highest
 * address that was used so far). The extent grows only when there is no other memory. */
static inline bool is_within_extent(const request_t *q, const kmm__block_t *b)
{
    return b && b->address + q->need <= b->segment->address + b->segment->extent;
}

/* Returns the bytes that a request takes from the end of a segment. From 2 MiB on they are rounded
 * up to a multiple of 1/16 of the largest power of two that is not larger, or of 2 MiB if that is
 * less. So requests of varying sizes fit more often where others were freed. Elsewhere, and if
 * frames can be gathered, a request takes only what it needs. */
static inline size_t generous(const kmm__pool_t *p, size_t bytes)
{
    if (bytes < 2 * MIB || p->head.upstream->mapper)
        return bytes;
    size_t step = (size_t)1 << (63 - __builtin_clzll(bytes) - 4);
    return kmm__round_up(bytes, step < 2 * MIB ? step : 2 * MIB);
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

/* Takes memory that needs neither a wait nor a mapping. */
kmm__block_t *kmm__take_any(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *b = fit_own(p, q);
    if (!b && p->head.order)
        b = kmm__heap_split_end(p, q->need);
    return carve(p, q, b);
}

/* Takes memory that needs neither a wait nor a mapping, unless gathering frames is better than
 * raising the extent. */
kmm__block_t *kmm__take_ready(kmm__pool_t *p, const request_t *q)
{
    kmm__block_t *b = fit_own(p, q);
    if (is_within_extent(q, b))
        return carve(p, q, b);
    bool more = false;
    if (!b || q->need > kmm__limit(&kmm__limits_of(p, q->stream)->block))
        more = kmm__pool_flush(p);
    if (p->head.order && (!b || others_have(p, q)))
        more |= kmm__heap_poll(p);
    if (more)
        b = fit_own(p, q);
    if (more && is_within_extent(q, b))
        return carve(p, q, b);
    return kmm__pool_is_worth_gathering(p, q) ? NULL : kmm__take_any(p, q);
}

/* Takes memory that other streams may still use. */
kmm__block_t *kmm__take_pending(kmm__pool_t *p, const request_t *q)
{
    if (!p->head.order)
        return NULL;
    kmm__block_t *b = fit_other(p, q);
    return carve(p, q, b ? b : pool_join(p, q));
}
