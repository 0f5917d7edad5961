/* SPDX-License-Identifier: Apache-2.0 */
/* From a kernel's graph to its footprint. */
#ifndef KMMCC_ANALYZE_AFFINE_H
#define KMMCC_ANALYZE_AFFINE_H

#include "analyze/affine_atom.h"

/* An index of which the accesses of one thread have all values from 0 to `last`. */
typedef struct extent {
    int atom;
    poly_t last;
    int64_t step; /* the greatest is last / step */
    bool all;     /* each value is there */
} extent_t;

/* What the guards say of the greatest value of an index within a block or a loop. The guard that
 * does is then gone. False: none does. */
bool affine_extent(footprint_t *x, box_t *b, int atom, extent_t *out);
/* Puts one atom for each sum that is an index of the grid. */
void affine_fold(footprint_t *x, poly_t *p, guards_t *g);

footprint_t *affine_of(const ir_function_t *f, const int64_t block[3]);
/* Sets the sizes of blocks that are 0 to those with which blockIdx.d and threadIdx.d are one index
 * in the kernel's code, as in `blockIdx.x * 256 + threadIdx.x`. False: there are none. */
bool affine_blocks(const ir_function_t *f, int64_t block[3]);

#endif
