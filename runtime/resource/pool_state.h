/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool's structures. A segment is memory that was got from upstream at once. Blocks tile it.
 *
 *   a live block          belongs to the program
 *   a cached block        is on its stream's cache, guarded by that stream's lock
 *   a free block          is on the shelf of its owner, or the clean shelf when it has none;
 *                         guarded by the pool's lock
 *   a left block          is nobody's any more: its frames have been gathered into another segment,
 *                         or given back upstream. They stay mapped here until the work before
 *                         that has finished
 *
 * Free neighbours of one owner are one block. Neighbours of different owners stay apart, each with
 * its tag, until one is clean or a request can be met only by joining them (`pool_join` in fit.c),
 * which makes the requesting stream wait for all of them, and owns the result. So a tag is never
 * lost by merging.
 *
 * Locks, in this order: pool, one stream's timeline, timelines.
 */
#ifndef KMM__RESOURCE_POOL_STATE_H
#define KMM__RESOURCE_POOL_STATE_H

#include "resource/lock.h"
#include "resource/pressure.h"
#include "resource/shelf.h"
#include "resource/timeline.h"

typedef struct kmm__segment {
    struct kmm__segment *next, *previous;
    kmm__block_t *first, *last;
    uintptr_t address;
    size_t bytes;
    /* Where the last block is free and has an owner: from this address on it is clean all the same,
     * or the end of the segment. So the end of a segment, which many pieces come from, stays one
     * block and open to all streams. */
    uintptr_t clean_from;
    size_t free;   /* bytes on shelves */
    size_t left;   /* bytes of left blocks: the segment has so much less memory than addresses */
    size_t mapped; /* of those, still mapped here */
    size_t extent; /* highest end of a live block so far, from address */
} kmm__segment_t;

typedef struct kmm__descriptor_page kmm__descriptor_page_t; /* descriptor.h */

enum { KMM__POOL_LARGE = 2, KMM__LARGE_BYTES = 64 << 10 };

/* What a stream may cache: bytes together, and in one block. */
typedef struct kmm__limits {
    _Atomic size_t most, block;
} kmm__limits_t;

typedef struct kmm__pool_stream {
    kmm__timeline_t timeline; /* first */
    kmm__block_t *last; /* freed last, of those the cache takes, and not in it yet; guarded by the
                           timeline's lock */
    kmm__block_t *large[KMM__POOL_LARGE]; /* freed last, of those too large for the cache; newest
                                             first; likewise */
    int large_misses; /* of those, how many in a row have left it for want of a request; likewise */
    _Atomic int large_count, large_rest; /* how many there are; so many are not kept, since the last
                                            ones were of no use */
    _Atomic int
        eager; /* the pool's lock was taken when this stream wanted it: cache more, for so long */
    uint16_t round; /* how often the cache has been full; guarded by the timeline's lock */
    int64_t live_bytes,
        live_count;     /* allocated from the cache minus freed on this stream; likewise */
    kmm__shelf_t cache; /* likewise */
    _Alignas(128) kmm__block_t *spare; /* descriptors not in use; guarded by the pool's lock */
    uint64_t oldest_epoch,
        newest_epoch;    /* no block of the shelf has an earlier, or a later one; likewise */
    kmm__shelf_t shelf;  /* free blocks it owns; likewise */
    _Atomic size_t left; /* left blocks it may still use; written under the pool's lock */
} kmm__pool_stream_t;

/* address -> block, for every block that is live or cached: chains through `same`. Written under
 * the pool's lock, and read without. Large blocks have one of their own, since they come and go,
 * and small ones are many. */
typedef struct kmm__index {
    struct kmm__index *smaller; /* what it has replaced; readers may still be there */
    unsigned shift;             /* of a hash; what is left is a bucket */
    size_t count;
    _Atomic(kmm__block_t *) buckets[];
} kmm__index_t;

/* What is being asked for. */
typedef struct kmm__request {
    kmm__pool_stream_t *stream;
    kmm_stream_t handle;
    size_t asked;
    size_t bytes, alignment; /* bytes: a multiple of 256 */
    size_t need;  /* a free block of so many bytes has the request in it wherever it starts */
    int *failure; /* set to what upstream has failed with, unless memory had run out */
} kmm__request_t;

typedef struct kmm__pool {
    /* What all threads read, and few write: */
    kmm_resource_t head;
    kmm__limits_t limits[2];          /* of a stream, and of an eager one; follow the extent */
    _Atomic(kmm__index_t *) index[2]; /* of small blocks, and of large ones */
    kmm_pool_options_t options;       /* defaults filled in */
    size_t growth_least;
    bool is_alone;
    kmm__holder_t holder;
    kmm__timelines_t timelines;
    /* What the lock guards: */
    _Alignas(128) kmm__lock_t lock;
    kmm__segment_t *segments;
    size_t segment_count;
    size_t held;    /* bytes of the segments, less what has left them, and of what is being got from
                       upstream */
    size_t extent;  /* of all listed segments, less what has left them */
    size_t listed;  /* of the listed segments, less what has left them */
    size_t shelved; /* bytes on shelves */
    size_t moving;  /* bytes that are on no shelf because they are being gathered */
    size_t most_used;   /* most bytes that programs and caches have had since memory was last given
                           back */
    kmm__block_t *left; /* left blocks that are still mapped, a list through next */
    size_t left_mapped; /* their bytes */
    int64_t live_bytes, live_count; /* allocated from the shelves so far; streams count the rest */
    uint64_t
        locker; /* the thread that had the lock last for a stream that has had to wait for it */
    kmm__block_t *spare;           /* descriptors not in use, but for those of streams */
    kmm__descriptor_page_t *pages; /* of descriptors that are nobody's yet */
    size_t descriptors;            /* that there are */
    kmm__descriptor_page_t
        *slabs; /* where they live; freed with the pool only, so that a stale pointer is readable */
    kmm__shelf_t clean;
} kmm__pool_t;

/* With the pool's lock held, or before others know the pool: */

/* Sets the extent, which the limits of caches follow. */
void kmm__pool_extend(kmm__pool_t *p, size_t bytes);
/* Bytes that programs and caches have. */
static inline size_t kmm__pool_used(const kmm__pool_t *p)
{
    return p->listed - p->shelved - p->moving;
}

/* Makes `most_used` follow them. */
static inline void kmm__pool_note_used(kmm__pool_t *p)
{
    const size_t used = kmm__pool_used(p);
    if (p->most_used < used)
        p->most_used = used;
}

static inline size_t kmm__limit(const _Atomic size_t *bytes)
{
    return atomic_load_explicit(bytes, memory_order_relaxed);
}

#endif
