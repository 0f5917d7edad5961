/* SPDX-License-Identifier: Apache-2.0 */
/* Grid, blocks and chunks of a launch in one sample. */
#ifndef KMMCC_ANALYZE_GEOMETRY_H
#define KMMCC_ANALYZE_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/byteset.h"
#include "analyze/sample.h"

typedef struct geometry {
    int64_t grid[3], block[3];                      /* blocks, and threads in a block */
    int64_t chunk[3];                               /* blocks of a chunk */
    int64_t count[3];                               /* chunks */
    int64_t lower[KMM_MAX_AXES], end[KMM_MAX_AXES]; /* ranges of the axes */
    uint64_t range[KMM_MAX_AXES]; /* the variables in the range of each axis, as in sample_t */
    uint64_t launch;              /* those in the configuration of the launch */
    bool guessed;                 /* the grid is not known: it covers the ranges */
} geometry_t;

/* `uses`: the dimensions that matter. `block_x` is the guess where the launch's is not known.
 * False: the sample makes no sense. */
bool geometry_of(sample_t *s, const bool uses[3], int64_t block_x, geometry_t *g);
/* True if the launch's code gives the size of its blocks. */
bool geometry_knows_blocks(const sample_t *s);
/* The size of the launch's blocks; 0 where it is no constant. */
void geometry_block(const unit_t *u, const directive_t *d, int64_t block[3]);
/* Sets the ranges of the axes in the blocks [first, first + count) of each dimension. */
void geometry_box(const sample_t *s, const geometry_t *g, const int64_t first[3],
                  const int64_t count[3], chunk_box_t *box);

#endif
