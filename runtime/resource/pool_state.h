/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool's structures. A segment is one allocation from upstream. Blocks tile it:
 *
 *   a live block          belongs to the program
 *   a cached block        is in its stream's cache, guarded by that stream's lock
 *   a free block          is on the shelf of its owner, or on the clean shelf if it has no owner;
 *                         guarded by the pool's lock
 *   a left block          has addresses but no memory: its frames were gathered into another
 *                         segment or given back upstream. The old mapping stays until earlier
 *                         work has finished
 *
 * A free block's owner is the stream whose work may still use it; its epoch tells until when. Both
 * together are its tag. A block without an owner is clean.
 *
 * Free neighbours with the same owner are merged into one block. Neighbours with different owners
 * stay separate and keep their tags. They are merged once they are clean, or if a request cannot be
 * met otherwise (`pool_join` in fit.c): then the requesting stream waits for all their owners and
 * owns the result. So merging never loses a tag.
 *
 * Lock order: pool, one stream's timeline, timelines.
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
    /* If the last block is free and has an owner: its part from this address on has no owner,
     * i.e. is clean. Otherwise the end of the segment. Most pieces are cut from a segment's end,
     * so this keeps the end one block that all streams can use. */
    uintptr_t clean_from;
    size_t free;   /* bytes on shelves */
    size_t left;   /* bytes of left blocks, which have addresses but no memory */
    size_t mapped; /* bytes of left blocks that are still mapped here */
    size_t extent; /* highest end of a live block so far, from address */
} kmm__segment_t;

typedef struct kmm__descriptor_page kmm__descriptor_page_t; /* descriptor.h */

enum { KMM__POOL_LARGE = 2, KMM__LARGE_BYTES = 64 << 10 };

/* Limits of a stream's cache in bytes: all blocks together, and one block. */
typedef struct kmm__limits {
    _Atomic size_t most, block;
} kmm__limits_t;

typedef struct kmm__pool_stream {
    kmm__timeline_t timeline; /* first */
    /* The cacheable block that was freed last; it is not in the cache yet. Guarded by the
     * timeline's lock, like all fields down to `cache`. */
    kmm__block_t *last;
    /* Blocks too large for the cache that were freed last, newest first. */
    kmm__block_t *large[KMM__POOL_LARGE];
    /* Number of large blocks in a row that left the cache unused. */
    int large_misses;
    /* Number of large blocks, and how many of the next ones are not kept because the last ones
     * were unused. */
    _Atomic int large_count, large_rest;
    /* Positive after the stream found the pool's lock taken: for how long it still caches
     * more. */
    _Atomic int eager;
    uint16_t round;                    /* how often the cache has been full */
    int64_t live_bytes, live_count;    /* allocated from the cache minus freed on this stream */
    kmm__shelf_t cache;                /* the cache itself */
    _Alignas(128) kmm__block_t *spare; /* descriptors not in use; guarded by the pool's lock */
    /* Bounds of the epochs of the shelf's blocks. Guarded by the pool's lock, as is the
     * shelf. */
    uint64_t oldest_epoch, newest_epoch;
    kmm__shelf_t shelf; /* free blocks that the stream owns */
    /* left blocks that the stream may still use; written under the pool's lock */
    _Atomic size_t left;
} kmm__pool_stream_t;

/* Hash table from address to block for every block that is live or cached; `same` chains the
 * blocks of a bucket. Written under the pool's lock and read without it. Large blocks have a
 * table of their own: they come and go, while small blocks are many. */
typedef struct kmm__index {
    struct kmm__index *smaller; /* the table that this one replaced; readers may still use it */
    unsigned shift;             /* the hash shifted right by this is the bucket */
    size_t count;
    _Atomic(kmm__block_t *) buckets[];
} kmm__index_t;

/* One request for memory. */
typedef struct kmm__request {
    kmm__pool_stream_t *stream;
    kmm_stream_t handle;
    size_t asked;
    size_t bytes, alignment; /* bytes is `asked` rounded up to a multiple of 256 */
    size_t need;  /* a free block of `need` bytes satisfies the request at any alignment */
    int *failure; /* receives upstream's error, unless it is lack of memory */
} kmm__request_t;

typedef struct kmm__pool {
    /* Read by all threads and rarely written: */
    kmm_resource_t head;
    kmm__limits_t limits[2]; /* of a stream and of an eager stream; they follow the extent */
    _Atomic(kmm__index_t *) index[2]; /* of small blocks and of large blocks */
    kmm_pool_options_t options;       /* defaults filled in */
    size_t growth_least;
    bool is_alone, is_keeping; /* pool.h */
    kmm__holder_t holder;
    kmm__timelines_t timelines;
    /* Guarded by `lock`: */
    _Alignas(128) kmm__lock_t lock;
    kmm__segment_t *segments;
    size_t segment_count;
    /* Bytes of the segments, without what has left them, plus bytes that are being taken from
     * upstream. */
    size_t held;
    size_t extent;  /* sum of the listed segments' extents, without what has left them */
    size_t listed;  /* bytes of the listed segments, without what has left them */
    size_t shelved; /* bytes on shelves */
    size_t moving;  /* bytes that are on no shelf while they are gathered */
    /* Maximum of kmm__pool_used since memory was last given back. */
    size_t most_used;
    kmm__block_t *left; /* list, through next, of left blocks that are still mapped */
    size_t left_mapped; /* their bytes */
    /* allocated from the shelves so far; the streams count the rest */
    int64_t live_bytes, live_count;
    /* The last thread that took the lock for a stream that has had to wait for it. */
    uint64_t locker;
    kmm__block_t *spare;           /* unused descriptors that belong to no stream */
    kmm__descriptor_page_t *pages; /* descriptor pages without an owner */
    size_t descriptors;            /* number of descriptors that exist */
    /* Memory of the descriptors. Freed only with the pool, so that a stale pointer stays
     * readable. */
    kmm__descriptor_page_t *slabs;
    kmm__shelf_t clean;
} kmm__pool_t;

/* ---- The caller holds the pool's lock, or no other thread knows the pool yet ---- */

/* Sets the extent and adjusts the limits of caches to it. */
void kmm__pool_extend(kmm__pool_t *p, size_t bytes);
/* Returns the bytes that are in use by programs or kept in caches. */
static inline size_t kmm__pool_used(const kmm__pool_t *p)
{
    return p->listed - p->shelved - p->moving;
}

/* Raises `most_used` to the current use. */
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
