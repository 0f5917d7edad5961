/* SPDX-License-Identifier: Apache-2.0 */
/* Partition: a launch's iteration space and its chunks. */
#ifndef KMM__LAUNCH_PARTITION_H
#define KMM__LAUNCH_PARTITION_H

#include "launch/builder.h"
#include "launch/placement.h"

typedef struct kmm__partition {
    bool is_function;
    uint32_t dims;                /* dimensions that can be split */
    int64_t size[KMM_MAX_SPLIT];  /* in blocks, or in elements of a function's range */
    int64_t unit[KMM_MAX_SPLIT];  /* elements per unit of size: blockDim, or 1 */
    int64_t lower[KMM_MAX_SPLIT]; /* first element of a function's range */
    int64_t chunk[KMM_MAX_SPLIT]; /* chunk size, in the unit of size */
    int64_t chunks[KMM_MAX_SPLIT];
    uint32_t count;
    int64_t asked[KMM_MAX_SPLIT];  /* chunks along each dimension before joining */
    int64_t joined[KMM_MAX_SPLIT]; /* how many of those were joined into one */
} kmm__partition_t;

/* One chunk: its first block or element, their number, and the range [lo, hi) of each axis. */
typedef struct kmm__chunk_box {
    int64_t first[KMM_MAX_SPLIT], count[KMM_MAX_SPLIT];
    int64_t axis_lo[KMM_MAX_AXES], axis_hi[KMM_MAX_AXES];
} kmm__chunk_box_t;

/* The dimension of the grid, or of a function's range, that an axis comes from. */
static inline uint32_t kmm__partition_dimension(kmm_source_t source)
{
    return (uint32_t)source % KMM_MAX_SPLIT;
}

/* For a bounded launch: clips the ranges of its axes to the grid. */
void kmm__partition_bound(kmm_launch_t *l, const uint32_t grid[3], const uint32_t block[3]);
int kmm__partition(const kmm_launch_t *l, const uint32_t grid[3], const uint32_t block[3],
                   bool is_function, kmm__partition_t *out);
/* Chooses the chunk size, if the directive gives none, from the footprint and the devices. The
 * caller holds the lock. */
void kmm__partition_choose(kmm__partition_t *p, const kmm_launch_t *l, kmm_runtime_t *rt,
                           kmm_kind_t kind);
/* Joins adjacent small chunks into one, so that the host's cost of a task is paid once for them.
 * Only done if the chunks differ in nothing but their number. The caller holds the lock; items
 * have their arrays. */
void kmm__partition_join(kmm__partition_t *p, const kmm_launch_t *l, const kmm_runtime_t *rt,
                         const kmm__placement_t *place);

/* Chunks before joining: their count, and the first and last of them that are in chunk k. */
uint32_t kmm__partition_asked(const kmm__partition_t *p);
void kmm__partition_numbers(const kmm__partition_t *p, uint32_t k, uint32_t *first, uint32_t *last);

void kmm__partition_chunk(const kmm__partition_t *p, const kmm_launch_t *l, uint32_t k,
                          kmm__chunk_box_t *out);
/* Returns the whole launch as one box. */
void kmm__partition_whole(const kmm__partition_t *p, const kmm_launch_t *l, kmm__chunk_box_t *out);

#endif
