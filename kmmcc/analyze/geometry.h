/* SPDX-License-Identifier: Apache-2.0 */
/* Grid, blocks and chunks of a launch in one sample. */
#ifndef KMMCC_ANALYZE_GEOMETRY_H
#define KMMCC_ANALYZE_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/byteset.h"
#include "analyze/sample.h"

typedef struct geometry {
    int64_t grid[3], block[3];                      /* blocks of the grid, threads of a block */
    int64_t chunk[3];                               /* blocks of a chunk */
    int64_t count[3];                               /* chunks */
    int64_t lower[KMM_MAX_AXES], end[KMM_MAX_AXES]; /* ranges of the axes */
    uint64_t range[KMM_MAX_AXES]; /* variables in the range of each axis, as bits (sample_t) */
    uint64_t launch;              /* variables in the configuration of the launch, as bits */
    /* the grid is not known, so one that covers the ranges is assumed */
    bool guessed;
} geometry_t;

/* Computes the geometry of a sample. `uses` tells which dimensions matter. `block_x` is assumed
 * where the size of blocks is not known. False: the sample's numbers make no valid launch. */
bool geometry_of(sample_t *s, const bool uses[3], int64_t block_x, geometry_t *g);
/* True if the launch gives the size of its blocks as constants. */
bool geometry_knows_blocks(const sample_t *s);
/* Returns the size of the launch's blocks in each dimension; 0 where it is no constant. */
void geometry_block(const unit_t *u, const directive_t *d, int64_t block[3]);
/* True if the launch of a plain function may have several chunks along the axis. */
bool geometry_splits(const unit_t *u, const directive_t *d, int axis);
/* Sets the ranges of the axes in the blocks [first, first + count) of each dimension. */
void geometry_box(const sample_t *s, const geometry_t *g, const int64_t first[3],
                  const int64_t count[3], chunk_box_t *box);
/* True if some axis of a kernel's launch has indices in several chunks. */
bool geometry_is_shared(const sample_t *s, const geometry_t *g);

#endif
