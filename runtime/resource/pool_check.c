/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a pool's invariants: those of single blocks, segments, shelves and caches, and the
 * counts over them. */
#include "resource/pool_check.h"

#include "resource/descriptor.h"
#include "resource/heap.h"
#include "resource/index.h"

static bool block_is_valid(kmm__pool_t *p, const kmm__block_t *b)
{
    if (b->bytes == 0 || b->bytes % KMM_RESOURCE_ALIGNMENT || b->address % KMM_RESOURCE_ALIGNMENT)
        return false;
    if (b->above && (b->above->below != b || b->above->address != b->address + b->bytes))
        return false;
    if (kmm__block_is_free(b) && kmm__block_is_free(b->above) && b->owner == b->above->owner)
        return false; /* free neighbours with one owner should have been merged */
    const kmm__block_state_t state = atomic_load(&b->state);
    const bool listed = kmm__index_find_locked(p, kmm__is_large(b), b->address) == b;
    return state == KMM__BLOCK_CACHED || listed == (state == KMM__BLOCK_LIVE);
}

/* True if blocks tile their segments, and the segments' counts are right. */
static bool segments_are_valid(kmm__pool_t *p)
{
    size_t count = 0, blocks = 0;
    const kmm__segment_t *previous = NULL;
    size_t shelved = 0, held = 0, extent = 0;
    for (kmm__segment_t *r = p->segments; r; r = r->next) {
        if (r->previous != previous)
            return false;
        previous = r;
        count++;
        size_t bytes = 0, unused = 0, left = 0;
        const kmm__block_t *last = NULL;
        for (kmm__block_t *b = r->first; b; b = b->above) {
            if (b->segment != r || !block_is_valid(p, b))
                return false;
            last = b;
            blocks++;
            bytes += b->bytes;
            unused += kmm__block_is_free(b) ? b->bytes : 0;
            left += kmm__block_is_left(b) ? b->bytes : 0;
        }
        if (bytes != r->bytes || unused != r->free || left != r->left || r->mapped > left ||
            last != r->last)
            return false;
        shelved += unused;
        held += bytes - left;
        extent += r->extent - left;
    }
    return count == p->segment_count && shelved == p->shelved && held <= p->held &&
           held == p->listed && extent == p->extent && kmm__descriptors_are_valid(p, blocks);
}

/* True if a stream's cache is consistent. The caller holds the stream's lock. */
static bool cache_is_valid(const kmm__pool_stream_t *s)
{
    int large = 0;
    while (large < KMM__POOL_LARGE && s->large[large])
        large++;
    for (int k = large; k < KMM__POOL_LARGE; k++)
        if (s->large[k])
            return false;
    return large == atomic_load(&s->large_count) && kmm__shelf_is_valid(&s->cache);
}

static bool stream_is_valid(kmm__pool_stream_t *s)
{
    kmm__lock_take(&s->timeline.lock);
    bool valid = cache_is_valid(s);
    kmm__lock_drop(&s->timeline.lock);
    return valid && kmm__shelf_is_valid(&s->shelf);
}

bool kmm__pool_counts_are_valid(kmm__pool_t *p)
{
    const kmm__segment_t *r = p->segments;
    return (r == NULL) == (p->segment_count == 0) && (!r || !r->previous) &&
           p->shelved <= p->listed && p->listed <= p->held && p->clean.bytes <= p->shelved;
}

bool kmm__pool_is_consistent(kmm__pool_t *p)
{
    bool valid =
        kmm__pool_counts_are_valid(p) && segments_are_valid(p) && kmm__shelf_is_valid(&p->clean);
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t && valid; t = t->next)
        valid = stream_is_valid((kmm__pool_stream_t *)t);
    return valid;
}

bool kmm__pool_check(kmm__pool_t *p)
{
    static _Atomic unsigned calls;
    const unsigned call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    return call % KMM__POOL_CHECK_EVERY ? kmm__pool_counts_are_valid(p)
                                        : kmm__pool_is_consistent(p);
}

bool kmm__pool_is_valid(kmm_resource_t *r)
{
    kmm__pool_t *p = (kmm__pool_t *)r;
    return p->held == p->listed && kmm__pool_is_consistent(p);
}
