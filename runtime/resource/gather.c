/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathering avoids fragmentation of a pool on memory that can be mapped elsewhere. If a large
 * request fits nowhere, whole frames of free blocks are gathered: they are mapped side by side as a
 * new segment. This is tried before the pool uses addresses that it never used (its extent grows),
 * and before it takes more memory.
 *
 * At the old addresses left blocks remain, which have no memory. The old mapping stays until
 * earlier work has finished. A segment that has nothing but left blocks is freed.
 */
#include "resource/gather.h"

#include <stdlib.h>

#include "resource/heap.h"
#include "resource/pool_check.h"
#include "resource/segment.h"

enum {
    WORTH_PART =
        2, /* gathering must find at least 1/2 of a request's frames, because mapping costs time */
    SPARE_PART = 8,  /* the extent may grow instead, up to 1/8 more than the maximum use so far */
    RUN_REQUESTS = 8 /* free frames for so many requests are gathered at once, so that the next
                        requests need no mapping */
};

/* The part of a segment in which frames are looked for: its extent, or all of it. */
typedef enum within { WITHIN_EXTENT, WITHIN_SEGMENT } within_t;

/* Free blocks whose frames are gathered, as pieces and as a list through `next`. */
typedef struct gathering {
    kmm__block_t *blocks;
    kmm__piece_t *pieces;
    size_t count, capacity; /* of pieces */
    size_t frames;          /* of all pieces */
    size_t total; /* frames of the new segment: the gathered ones and, if there are too few, new
                     ones */
} gathering_t;

static const kmm__mapper_t *mapper_of(const kmm__pool_t *p)
{
    return p->head.upstream->mapper;
}

static size_t frames_for(const kmm__pool_t *p, size_t bytes)
{
    return kmm__round_up(bytes, mapper_of(p)->frame_bytes) / mapper_of(p)->frame_bytes;
}

/* Returns the whole frames of a free block, up to the end of its segment's extent or of the
 * segment. */
static kmm__piece_t piece_of(const kmm__pool_t *p, const kmm__block_t *b, within_t within)
{
    const size_t frame = mapper_of(p)->frame_bytes;
    const kmm__segment_t *r = b->segment;
    const uintptr_t limit = r->address + (within == WITHIN_EXTENT ? r->extent : r->bytes);
    const uintptr_t top = b->address + b->bytes < limit ? b->address + b->bytes : limit;
    const uintptr_t from = kmm__round_up(b->address, frame), to = top & ~(frame - 1);
    return (kmm__piece_t){r->address, from, to > from ? (to - from) / frame : 0};
}

/* ---- Search for frames; the caller holds the pool's lock ---- */

/* Adds frames of a piece of b, so that there are at most `want`. False: the host has no memory. */
static bool add_piece(kmm__pool_t *p, gathering_t *g, kmm__block_t *b, kmm__piece_t piece,
                      size_t want)
{
    if (g->count == g->capacity) {
        size_t capacity = 2 * g->capacity + 16;
        kmm__piece_t *grown = realloc(g->pieces, capacity * sizeof(*grown));
        if (!grown)
            return false;
        g->pieces = grown;
        g->capacity = capacity;
    }
    if (piece.frames > want - g->frames)
        piece.frames = want - g->frames;
    b = kmm__heap_cut(p, b, piece.address, piece.frames * mapper_of(p)->frame_bytes);
    if (!b)
        return false;
    b->next = g->blocks;
    g->blocks = b;
    g->pieces[g->count++] = piece;
    g->frames += piece.frames;
    return true;
}

/* Adds frames of the blocks of a shelf, the largest first, so that there are few pieces. The stream
 * `waiter` waits for each block's owner; NULL: no wait is needed. */
static bool add_shelf(kmm__pool_t *p, gathering_t *g, const kmm__shelf_t *s,
                      kmm__pool_stream_t *waiter, within_t within, size_t want)
{
    for (unsigned c = KMM__CLASSES; g->frames < want && (c = kmm__shelf_below(s, c));)
        for (kmm__block_t *b = s->classes[c], *next; b && g->frames < want; b = next) {
            next = b->next; /* what is cut off goes to a smaller class, except at the last piece */
            kmm__piece_t piece = piece_of(p, b, within);
            if (piece.frames == 0)
                continue;
            if (waiter && b->owner &&
                kmm__timeline_after(&p->timelines, &waiter->timeline, &b->owner->timeline,
                                    b->epoch))
                return false;
            if (!add_piece(p, g, b, piece, want))
                return false;
        }
    return true;
}

static bool add_others(kmm__pool_t *p, gathering_t *g, kmm__pool_stream_t *waiter, within_t within,
                       size_t want)
{
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next)
        if (t != &waiter->timeline &&
            !add_shelf(p, g, &((kmm__pool_stream_t *)t)->shelf, waiter, within, want))
            return false;
    return true;
}

static bool add_all(kmm__pool_t *p, gathering_t *g, const kmm__request_t *q, kmm__gather_t from,
                    within_t within, size_t want)
{
    return add_shelf(p, g, &p->clean, NULL, within, want) &&
           add_shelf(p, g, &q->stream->shelf, NULL, within, want) &&
           (from == KMM__GATHER_READY || add_others(p, g, q->stream, within, want));
}

static size_t count_shelf(const kmm__pool_t *p, const kmm__shelf_t *s, size_t want)
{
    size_t frames = 0;
    for (unsigned c = KMM__CLASSES; frames < want && (c = kmm__shelf_below(s, c));)
        for (const kmm__block_t *b = s->classes[c]; b && frames < want; b = b->next) {
            if (b->bytes < mapper_of(p)->frame_bytes)
                return frames;
            frames += piece_of(p, b, WITHIN_EXTENT).frames;
        }
    return frames;
}

static bool may_gather(const kmm__pool_t *p, const kmm__request_t *q)
{
    const kmm__mapper_t *m = mapper_of(p);
    return m && q->bytes > m->frame_bytes && q->alignment <= m->frame_bytes;
}

/* True if the extent may grow for the request, so that gathering is not worth its cost. To be asked
 * before pieces are cut: cut pieces do not count as free. */
static bool is_spared(const kmm__pool_t *p, const kmm__request_t *q)
{
    const size_t used = kmm__pool_used(p) + q->bytes,
                 most = used > p->most_used ? used : p->most_used;
    return p->extent + q->bytes <= most + most / SPARE_PART &&
           p->extent + q->bytes <= p->options.maximum_bytes;
}

bool kmm__pool_is_full(const kmm__pool_t *p, const kmm__request_t *q)
{
    return mapper_of(p) && !is_spared(p, q);
}

bool kmm__pool_is_worth_gathering(const kmm__pool_t *p, const kmm__request_t *q)
{
    if (!may_gather(p, q) || is_spared(p, q))
        return false;
    const size_t want = frames_for(p, q->bytes), least = (want + WORTH_PART - 1) / WORTH_PART;
    size_t found = count_shelf(p, &p->clean, least);
    return found >= least || found + count_shelf(p, &q->stream->shelf, least - found) >= least;
}

/* ---- Moving the frames ---- */

/* Undoes a search: puts the blocks back on their shelves. */
static void give_up(kmm__pool_t *p, gathering_t *g)
{
    while (g->blocks) {
        kmm__block_t *next = g->blocks->next;
        kmm__heap_release(p, g->blocks);
        g->blocks = next;
    }
}

/* True if half of the frames are free, whichever stream may still use them. */
static bool all_have(kmm__pool_t *p, size_t want)
{
    const size_t least = (want + WORTH_PART - 1) / WORTH_PART;
    size_t found = count_shelf(p, &p->clean, least);
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t && found < least; t = t->next)
        found += count_shelf(p, &((kmm__pool_stream_t *)t)->shelf, least - found);
    return found >= least;
}

/* Finds frames for the request. Frames that are missing are counted as held; `move` creates them.
 * False: there are not enough, and nothing has changed. */
static bool find(kmm__pool_t *p, gathering_t *g, const kmm__request_t *q, kmm__gather_t from)
{
    const size_t want = frames_for(p, q->bytes), frame = mapper_of(p)->frame_bytes;
    bool found = (from == KMM__GATHER_PENDING || !is_spared(p, q)) &&
                 (from != KMM__GATHER_WAIT || all_have(p, want)) &&
                 add_all(p, g, q, from, WITHIN_EXTENT, want) &&
                 (from == KMM__GATHER_PENDING || g->frames * WORTH_PART >= want) &&
                 add_all(p, g, q, from, WITHIN_SEGMENT, want) &&
                 (want - g->frames) * frame <= p->options.maximum_bytes - p->held;
    if (found && g->frames == want)
        add_all(p, g, q, KMM__GATHER_READY, WITHIN_EXTENT,
                RUN_REQUESTS *
                    want); /* a failure does no harm: the request has its frames already */
    g->total = g->frames < want ? want : g->frames;
    p->moving += found ? g->frames * frame : 0;
    if (found)
        p->held += (g->total - g->frames) * frame;
    else
        give_up(p, g);
    return found;
}

/* Makes a block a left block: it keeps its addresses and loses its memory. */
static void leave(kmm__pool_t *p, kmm__block_t *b)
{
    atomic_store_explicit(&b->state, KMM__BLOCK_LEFT, memory_order_relaxed);
    kmm__heap_extend(p, b);
    b->segment->left += b->bytes;
    b->segment->mapped += b->bytes;
    p->left_mapped += b->bytes;
    p->listed -= b->bytes;
    kmm__pool_extend(p, p->extent - b->bytes);
    if (b->owner)
        atomic_fetch_add_explicit(&b->owner->left, 1, memory_order_relaxed);
    b->next = p->left;
    p->left = b;
}

/* Makes the gathered frames, which are mapped at `memory` now, a segment, and carves the request
 * from it. The caller holds the lock. */
static kmm__block_t *arrive(kmm__pool_t *p, gathering_t *g, const kmm__request_t *q, void *memory)
{
    const size_t frame = mapper_of(p)->frame_bytes, bytes = g->total * frame;
    while (g->blocks) {
        kmm__block_t *next = g->blocks->next;
        leave(p, g->blocks);
        g->blocks = next;
    }
    if (kmm__segment_add(p, memory, bytes, p->head.order ? q->stream : NULL))
        return NULL;
    p->segments->extent = g->frames * frame;
    kmm__pool_extend(p, p->extent + g->frames * frame);
    kmm__block_t *b = kmm__heap_carve(p, q->stream, p->segments->first, q->bytes, q->alignment);
    p->live_bytes += b ? (int64_t)q->asked : 0;
    p->live_count += b != NULL;
    kmm__pool_note_used(p);
    return b;
}

/* Maps the frames that were found. The caller does not hold the lock. */
static kmm__block_t *move(kmm__pool_t *p, gathering_t *g, const kmm__request_t *q)
{
    const size_t want = g->total, frame = mapper_of(p)->frame_bytes,
                 more = (want - g->frames) * frame;
    void *memory = NULL;
    kmm__block_t *b = NULL;
    int status = mapper_of(p)->gather(p->head.upstream, g->pieces, g->count, want, &memory);
    kmm__lock_take(&p->lock);
    p->moving -= g->frames * frame;
    if (status == 0)
        b = arrive(p, g, q, memory);
    else
        p->held -= more;
    give_up(p, g);
    const bool lost =
        status == 0 && !b && (!p->segments || p->segments->address != (uintptr_t)memory);
    if (lost)
        p->held -= want * frame;
    kmm__pool_unlock(p);
    if (lost) /* the host has no memory for a segment */
        kmm__resource_give_back(p->head.upstream, memory, want * frame, q->handle);
    return b;
}

kmm__block_t *kmm__pool_gather(kmm__pool_t *p, const kmm__request_t *q, kmm__gather_t from)
{
    gathering_t g = {0};
    kmm__block_t *b = NULL;
    if (!may_gather(p, q))
        return NULL;
    kmm__lock_take(&p->lock);
    if (p->left_mapped > p->held)
        kmm__pool_forget(p, KMM__FORGET_PASSED);
    bool found = find(p, &g, q, from);
    kmm__pool_unlock(p);
    if (found)
        b = move(p, &g, q);
    free(g.pieces);
    return b;
}

/* ---- Left blocks ---- */

static bool has_passed(kmm__pool_t *p, const kmm__block_t *b)
{
    return !b->owner ||
           kmm__timeline_poll(&p->timelines, &b->owner->timeline, b->epoch) >= b->epoch;
}

/* Takes left blocks off the pool's list and returns them as a list: all, or those whose earlier
 * work is done. */
static kmm__block_t *left_take(kmm__pool_t *p, kmm__forget_t which)
{
    kmm__block_t *taken = NULL, **at = &p->left;
    while (*at) {
        kmm__block_t *b = *at;
        if (which == KMM__FORGET_PASSED && !has_passed(p, b)) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        b->next = taken;
        taken = b;
    }
    return taken;
}

/* Removes a left block's mapping. The caller does not hold the lock, and no other thread knows the
 * block. */
static int unmap(kmm__pool_t *p, const kmm__block_t *b)
{
    const kmm__piece_t piece = {b->segment->address, b->address, frames_for(p, b->bytes)};
    return mapper_of(p)->forget(p->head.upstream, &piece);
}

/* Gives the addresses of a segment back that has nothing but left blocks without mappings. Releases
 * the lock meanwhile. */
static int segment_end(kmm__pool_t *p, kmm__segment_t *r)
{
    kmm__segment_detach(p, r);
    kmm__pool_unlock(p);
    int status = kmm__resource_give_back(p->head.upstream, (void *)r->address, r->bytes, NULL);
    kmm__lock_take(&p->lock);
    kmm__segment_free(r);
    return status;
}

/* Removes a left block's mapping after the work that may use it. Releases the lock meanwhile. If
 * that work cannot be awaited, the block stays on the list. */
static int forget(kmm__pool_t *p, kmm__block_t *b)
{
    kmm__segment_t *r = b->segment;
    kmm__pool_unlock(p);
    int status = b->owner ? kmm__timeline_settle(&p->timelines, &b->owner->timeline, b->epoch) : 0;
    if (status) {
        kmm__lock_take(&p->lock);
        b->next = p->left;
        p->left = b;
        return status;
    }
    status = unmap(p, b);
    kmm__lock_take(&p->lock);
    if (b->owner)
        atomic_fetch_sub_explicit(&b->owner->left, 1, memory_order_relaxed);
    b->owner = NULL;
    r->mapped -= b->bytes;
    p->left_mapped -= b->bytes;
    const int end = r->left == r->bytes && r->mapped == 0 ? segment_end(p, r) : 0;
    return status ? status : end;
}

int kmm__pool_forget(kmm__pool_t *p, kmm__forget_t which)
{
    int status = 0;
    for (kmm__block_t *b = left_take(p, which), *next; b; b = next) {
        next = b->next;
        int one = forget(p, b);
        status = status ? status : one;
    }
    return status;
}

/* Gives up the frames of free blocks of one shelf, until at most `keep` bytes are held. */
static void leave_unused(kmm__pool_t *p, const kmm__shelf_t *s, size_t keep)
{
    const size_t frame = mapper_of(p)->frame_bytes;
    gathering_t g = {0};
    if (p->held > keep)
        add_shelf(p, &g, s, NULL, WITHIN_SEGMENT, (p->held - keep + frame - 1) / frame);
    while (g.blocks) {
        kmm__block_t *next = g.blocks->next;
        p->held -= g.blocks->bytes;
        leave(p, g.blocks);
        g.blocks = next;
    }
    free(g.pieces);
}

int kmm__pool_shrink(kmm__pool_t *p, size_t keep)
{
    if (!mapper_of(p))
        return 0;
    leave_unused(p, &p->clean, keep);
    for (kmm__timeline_t *t = atomic_load(&p->timelines.all); t; t = t->next)
        leave_unused(p, &((kmm__pool_stream_t *)t)->shelf, keep);
    return kmm__pool_forget(p, KMM__FORGET_ALL);
}
