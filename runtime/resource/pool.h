/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool: heap.c keeps the regions, the blocks that tile them and the shelves of free blocks;
 * pool.c has the paths of allocation and deallocation; gather.c moves frames of memory that can be
 * mapped elsewhere; trim.c gives memory back.
 *
 *   a live block          belongs to the program
 *   a cached block        is on its stream's cache, guarded by that stream's lock
 *   a free block          is on the shelf of its owner, or the clean shelf when it has none;
 *                         guarded by the pool's lock
 *   a left block          is nobody's any more: its frames have been gathered into another region,
 * or gone back upstream. Until the work before that has finished, they are mapped here too.
 *
 * Free neighbours of one owner are one block. Neighbours of different owners stay apart, each with
 * its tag, until one is clean or a request can be met only by joining them (`pool_join`), which
 * makes the requesting stream wait for all of them, and owns the result. So a tag is never lost by
 * merging.
 *
 * Locks, in this order: pool, one stream's timeline, timelines.
 */
#ifndef KMM__RESOURCE_POOL_H
#define KMM__RESOURCE_POOL_H

#include "resource/pressure.h"
#include "resource/shelf.h"
#include "resource/timeline.h"

typedef struct kmm__region {
    struct kmm__region *next, *previous;
    kmm__block_t *first, *last;
    uintptr_t address;
    size_t bytes;
    /* Where the last block is free and has an owner: from this address on it is clean all the same,
     * or the end of the region. So the end of a region, which many pieces come from, stays one
     * block and open to all streams. */
    uintptr_t clean_from;
    size_t free;   /* bytes on shelves */
    size_t left;   /* bytes of left blocks: the region has so much less memory than addresses */
    size_t mapped; /* of those, still mapped here */
    size_t extent; /* highest end of a live block so far, from address */
} kmm__region_t;

typedef struct kmm__page kmm__page_t; /* of descriptors */

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
    kmm__region_t *regions;
    size_t region_count;
    size_t held;    /* bytes of the regions, less what has left them, and of what is being got from
                       upstream */
    size_t extent;  /* of all listed regions, less what has left them */
    size_t listed;  /* of the listed regions, less what has left them */
    size_t shelved; /* bytes on shelves */
    size_t moving;  /* bytes that are on no shelf because they are being gathered */
    size_t most_used;   /* most bytes that programs and caches have had since memory was last given
                           back */
    kmm__block_t *left; /* left blocks that are still mapped, a list through next */
    size_t left_mapped; /* their bytes */
    int64_t live_bytes, live_count; /* allocated from the shelves so far; streams count the rest */
    uint64_t
        locker; /* the thread that had the lock last for a stream that has had to wait for it */
    kmm__block_t *spare; /* descriptors not in use, but for those of streams */
    kmm__page_t *pages;  /* of descriptors that are nobody's yet */
    size_t descriptors;  /* that there are */
    kmm__page_t
        *slabs; /* where they live; freed with the pool only, so that a stale pointer is readable */
    kmm__shelf_t clean;
} kmm__pool_t;

/* ---- heap.c; with the pool's lock held ---- */

/* Adds memory as one free block. KMM_E_MEMORY: the host has none for descriptors. */
int kmm__heap_add_region(kmm__pool_t *p, void *memory, size_t bytes, kmm__pool_stream_t *owner);
/* Takes all blocks of a region that is entirely free off their shelves; the region is no longer
 * listed. */
void kmm__heap_detach_region(kmm__pool_t *p, kmm__region_t *region);
/* Undoes a detach. */
void kmm__heap_attach_region(kmm__pool_t *p, kmm__region_t *region);
void kmm__heap_free_region(kmm__region_t *region);
/* The block that is live or cached at an address; NULL: none is. Takes the lock. */
kmm__block_t *kmm__heap_find_surely(kmm__pool_t *p, const void *address);
/* Takes a live or cached block out of the index, and makes it free. */
void kmm__heap_free(kmm__pool_t *p, kmm__block_t *b);
/* Makes a block free, joining it with its neighbours of the same owner. Returns what it has become.
 */
kmm__block_t *kmm__heap_release(kmm__pool_t *p, kmm__block_t *b);
/* Takes `bytes` at `start` out of a free block, which keep its tag and are on no shelf; the rest
 * stays free. NULL: the host has no memory. */
kmm__block_t *kmm__heap_cut(kmm__pool_t *p, kmm__block_t *b, uintptr_t start, size_t bytes);
/* The extent of the block's region reaches the block's end at least. */
void kmm__heap_extend(kmm__pool_t *p, const kmm__block_t *b);
/* Makes a free block live, for a stream: `bytes` of it at a multiple of `alignment`; the rest stays
 * free. NULL: the host has no memory. */
kmm__block_t *kmm__heap_carve(kmm__pool_t *p, kmm__pool_stream_t *s, kmm__block_t *b, size_t bytes,
                              size_t alignment);
/* Merges the free blocks first to last, which are neighbours, for a new owner. */
kmm__block_t *kmm__heap_join(kmm__pool_t *p, kmm__block_t *first, kmm__block_t *last,
                             kmm__pool_stream_t *owner, uint64_t epoch);
/* Cuts off the clean part of a last block that has an owner, if it has `need` bytes; NULL: there is
 * none. */
kmm__block_t *kmm__heap_split_end(kmm__pool_t *p, size_t need);
/* Takes owners away from blocks whose epoch has passed; whether there are any. */
bool kmm__heap_poll(kmm__pool_t *p);
bool kmm__heap_is_valid(kmm__pool_t *p);
int kmm__heap_init(kmm__pool_t *p); /* KMM_E_MEMORY: the host has none */
void kmm__heap_deinit(kmm__pool_t *p);

/* Multiplicative hashing: low bits of addresses are zeros, and only high bits of the product are
 * good. */
static inline size_t kmm__index_bucket(const kmm__index_t *x, uintptr_t address)
{
    return (size_t)(((uint64_t)address >> KMM__UNIT_SHIFT) * 0x9E3779B97F4A7C15u >> x->shift);
}

static inline kmm__block_t *kmm__index_find(const kmm__index_t *x, uintptr_t address)
{
    kmm__block_t *b =
        atomic_load_explicit(&x->buckets[kmm__index_bucket(x, address)], memory_order_acquire);
    for (int steps = 0; b && steps < 16; steps++) {
        if (kmm__block_is_at(b, address))
            return b;
        b = atomic_load_explicit(&b->same, memory_order_acquire);
    }
    return NULL;
}

/* The same without the lock; `bytes` is a guess at its size. Blocks may change chains meanwhile, so
 * what is found is right and what is not may be there all the same; chains are short. */
static inline kmm__block_t *kmm__heap_find(kmm__pool_t *p, const void *address, size_t bytes)
{
    const bool large = bytes > KMM__LARGE_BYTES - KMM_RESOURCE_ALIGNMENT;
    const kmm__index_t *x = atomic_load_explicit(&p->index[large], memory_order_acquire);
    kmm__block_t *b = kmm__index_find(x, (uintptr_t)address);
    if (b)
        return b;
    b = kmm__index_find(atomic_load_explicit(&p->index[!large], memory_order_acquire),
                        (uintptr_t)address);
    return b ? b : kmm__heap_find_surely(p, address);
}

/* ---- pool.c ---- */

/* A pool that stands alone neither makes other pools of the process give memory back nor is made
 * to. */
typedef enum kmm__pool_relation { KMM__POOL_AMONG_OTHERS, KMM__POOL_ALONE } kmm__pool_relation_t;
int kmm__pool_create(kmm_resource_t *upstream, const kmm_pool_options_t *options,
                     kmm__pool_relation_t relation, kmm_resource_t **out);
/* Sets the extent, with the pool's lock held, or before others know the pool. */
void kmm__pool_extend(kmm__pool_t *p, size_t bytes);
/* Bytes that programs and caches have. With the pool's lock held. */
size_t kmm__pool_used(const kmm__pool_t *p);
/* Follows their peak. With the pool's lock held. */
void kmm__pool_note_used(kmm__pool_t *p);
/* Moves every stream's cache to the shelves; whether there was anything in them. With the pool's
 * lock held. */
bool kmm__pool_flush(kmm__pool_t *p);
bool kmm__pool_is_valid(kmm_resource_t *pool); /* for tests: no other thread uses it */

/* ---- trim.c ---- */

int kmm__pool_trim(kmm_resource_t *r, size_t keep);

#endif
