/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks and shelves. Frees, cuts, merges and joins blocks, so that blocks always tile their
 * segments and each free block keeps a tag that is right for all of it. */
#include "resource/heap.h"

#include "resource/descriptor.h"
#include "resource/index.h"

static inline kmm__shelf_t *shelf_of(kmm__pool_t *p, const kmm__block_t *b)
{
    return b->owner ? &b->owner->shelf : &p->clean;
}

static inline void note_epoch(kmm__pool_stream_t *s, uint64_t epoch)
{
    if (s->newest_epoch < epoch)
        s->newest_epoch = epoch;
    if (s->oldest_epoch > epoch || kmm__shelf_count(&s->shelf) == 1)
        s->oldest_epoch = epoch;
}

/* Puts a block on its shelf. Its bytes have already been counted. */
static inline void put(kmm__pool_t *p, kmm__block_t *b)
{
    atomic_store_explicit(&b->state, KMM__BLOCK_FREE, memory_order_relaxed);
    kmm__shelf_put(shelf_of(p, b), b);
    if (b->owner)
        note_epoch(b->owner, b->epoch);
}

static inline void count(kmm__pool_t *p, kmm__segment_t *r, size_t bytes)
{
    p->shelved += bytes;
    r->free += bytes;
}

void kmm__heap_shelve(kmm__pool_t *p, kmm__block_t *b)
{
    count(p, b->segment, b->bytes);
    put(p, b);
}

void kmm__heap_unshelve(kmm__pool_t *p, kmm__block_t *b)
{
    kmm__shelf_take(shelf_of(p, b), b);
    count(p, b->segment, -b->bytes);
    atomic_store_explicit(&b->state, KMM__BLOCK_CACHED, memory_order_relaxed);
}

/* Joins `upper`, which is on no shelf, to its lower neighbour, which keeps its owner and epoch. */
static inline void absorb(kmm__block_t *lower, kmm__block_t *upper)
{
    lower->bytes += upper->bytes;
    kmm__block_link(&lower->above, upper->above);
    if (lower->above)
        kmm__block_link(&lower->above->below, lower);
    else
        lower->segment->last = lower;
    kmm__descriptor_put(upper);
}

/* Cuts a block that is on no shelf. Returns the lower part. It has the new descriptor, from the
 * page of the stream that will write to it. */
static inline kmm__block_t *cut(kmm__block_t **spare, kmm__block_t *b, size_t bytes)
{
    kmm__block_t *lower = kmm__descriptor_get(spare, b->address, bytes, b->segment);
    kmm__block_place(b, b->address + bytes);
    b->bytes -= bytes;
    lower->owner = b->owner;
    lower->epoch = b->epoch;
    kmm__block_link(&lower->below, b->below);
    kmm__block_link(&lower->above, b);
    if (lower->below)
        kmm__block_link(&lower->below->above, lower);
    else
        b->segment->first = lower;
    kmm__block_link(&b->below, lower);
    return lower;
}

static inline void make_clean(kmm__block_t *b)
{
    b->owner = NULL;
    b->epoch = 0;
}

/* True if a block b that is being freed may be merged with a free neighbour, so that one tag is
 * right for both. A clean neighbour that is no larger than b may take b's tag: little clean memory
 * is lost, and memory is not cut into ever smaller pieces. At the end of a segment nothing is lost,
 * since `clean_from` remembers where clean memory begins. */
static inline bool may_merge(const kmm__block_t *b, const kmm__block_t *neighbour)
{
    if (!kmm__block_is_free(neighbour))
        return false;
    return neighbour->owner == b->owner ||
           (!neighbour->owner && (neighbour->bytes <= b->bytes || !neighbour->above));
}

/* Updates `clean_from` before b, which is being freed, is merged with the block above it. */
static inline void note_clean_from(const kmm__block_t *b)
{
    kmm__segment_t *r = b->segment;
    if (!b->above)
        r->clean_from = r->address + r->bytes;
    else if (may_merge(b, b->above) && b->above == r->last && !r->last->owner)
        r->clean_from = r->last->address;
}

/* A merged block gets the newest epoch of its owner's shelf, which covers all parts. To look at the
 * epoch of each part would cost more than it gains: b is freed now, and few parts have a later
 * epoch. */
kmm__block_t *kmm__heap_release(kmm__pool_t *p, kmm__block_t *b)
{
    kmm__pool_stream_t *owner = b->owner;
    uint64_t epoch = b->epoch;
    bool merged = false;
    count(p, b->segment, b->bytes);
    note_clean_from(b);
    for (kmm__block_t *above; may_merge(b, above = b->above); merged = true) {
        kmm__shelf_take(shelf_of(p, above), above);
        absorb(b, above);
    }
    for (kmm__block_t *below; may_merge(b, below = b->below); b = below, merged = true) {
        kmm__shelf_take(shelf_of(p, below), below);
        below->owner = owner;
        absorb(below, b);
    }
    if (owner && merged && epoch < owner->newest_epoch)
        epoch = owner->newest_epoch;
    b->epoch = epoch;
    put(p, b);
    return b;
}

void kmm__heap_free(kmm__pool_t *p, kmm__block_t *b)
{
    kmm__index_remove(kmm__index_of(p, kmm__is_large(b)), b);
    kmm__heap_release(p, b);
}

void kmm__heap_extend(kmm__pool_t *p, const kmm__block_t *b)
{
    const size_t extent = b->address + b->bytes - b->segment->address, before = b->segment->extent;
    if (extent <= before)
        return;
    b->segment->extent = extent;
    kmm__pool_extend(p, p->extent + extent - before);
}

static inline kmm__block_t *cut_out(kmm__pool_t *p, kmm__block_t **spare, kmm__block_t *b,
                                    uintptr_t start, size_t bytes)
{
    if (!kmm__descriptors_reserve(p, spare))
        return NULL;
    kmm__shelf_take(shelf_of(p, b), b);
    if (start > b->address)
        put(p, cut(spare, b, start - b->address));
    if (b->bytes > bytes) {
        kmm__block_t *rest = b;
        b = cut(spare, rest, bytes);
        if (!rest->above && rest->address >= rest->segment->clean_from)
            make_clean(rest);
        put(p, rest);
    }
    count(p, b->segment, -b->bytes);
    atomic_store_explicit(&b->state, KMM__BLOCK_CACHED, memory_order_relaxed);
    return b;
}

kmm__block_t *kmm__heap_cut(kmm__pool_t *p, kmm__block_t *b, uintptr_t start, size_t bytes)
{
    return cut_out(p, &p->spare, b, start, bytes);
}

/* Replaces the descriptor of a block that is on no shelf by one of the list. */
static kmm__block_t *describe_anew(kmm__block_t **spare, kmm__block_t *b)
{
    kmm__block_t *whole = cut(spare, b, b->bytes);
    absorb(whole, b);
    return whole;
}

kmm__block_t *kmm__heap_carve(kmm__pool_t *p, kmm__pool_stream_t *s, kmm__block_t *b, size_t bytes,
                              size_t alignment)
{
    b = cut_out(p, &s->spare, b, (uintptr_t)kmm__round_up(b->address, alignment), bytes);
    if (!b)
        return NULL;
    if (kmm__home_of(b) != &s->spare)
        b = describe_anew(&s->spare, b);
    kmm__index_list(p, b);
    kmm__heap_extend(p, b);
    make_clean(b);
    atomic_store_explicit(&b->state, KMM__BLOCK_LIVE, memory_order_relaxed);
    return b;
}

kmm__block_t *kmm__heap_split_end(kmm__pool_t *p, size_t need)
{
    for (kmm__segment_t *r = p->segments; r; r = r->next) {
        kmm__block_t *b = r->last;
        const uintptr_t from = b->address < r->clean_from ? r->clean_from : b->address;
        if (!kmm__block_is_free(b) || !b->owner || r->address + r->bytes - from < need ||
            !kmm__descriptors_reserve(p, &p->spare))
            continue;
        kmm__heap_unshelve(p, b);
        if (from > b->address)
            kmm__heap_shelve(p, cut(&p->spare, b, from - b->address));
        make_clean(b);
        kmm__heap_shelve(p, b);
        return b;
    }
    return NULL;
}

kmm__block_t *kmm__heap_join(kmm__pool_t *p, kmm__block_t *first, kmm__block_t *last,
                             kmm__pool_stream_t *owner, uint64_t epoch)
{
    const uintptr_t end = last->address + last->bytes;
    for (kmm__block_t *b = first; b && b->address < end; b = b->above)
        kmm__heap_unshelve(p, b);
    while (first->address + first->bytes < end)
        absorb(first, first->above);
    first->owner = owner;
    first->epoch = epoch;
    return kmm__heap_release(p, first);
}

/* Makes the blocks of a stream's shelf clean whose epoch has passed. All blocks are looked at
 * whenever the oldest epoch on the shelf has passed. Few epochs have an event of their own, so each
 * block is looked at a few times only. */
static bool poll_stream(kmm__pool_t *p, kmm__pool_stream_t *s)
{
    if (kmm__shelf_count(&s->shelf) == 0)
        return false;
    const uint64_t done = kmm__timeline_poll(&p->timelines, &s->timeline, s->newest_epoch);
    if (done < s->oldest_epoch)
        return false;
    uint64_t oldest = UINT64_MAX;
    for (unsigned c = KMM__CLASSES; (c = kmm__shelf_below(&s->shelf, c));)
        for (kmm__block_t *b = s->shelf.classes[c], *next; b; b = next) {
            next = b->next; /* stays valid: clean blocks merge with clean blocks only */
            if (b->epoch > done) {
                oldest = b->epoch < oldest ? b->epoch : oldest;
                continue;
            }
            kmm__heap_unshelve(p, b);
            make_clean(b);
            kmm__heap_release(p, b);
        }
    s->oldest_epoch = oldest;
    return true;
}

bool kmm__heap_poll(kmm__pool_t *p)
{
    bool any = false;
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t && p->head.order; t = t->next)
        any |= poll_stream(p, (kmm__pool_stream_t *)t);
    return any;
}
