/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA source rewritten by kmmcc includes. */
#ifndef KMM_CUDA_H
#define KMM_CUDA_H

#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `clone` is the kernel `original` with a kmm_blocks_t before its other parameters: a launch of the
 * clone that stays one chunk runs the original. Called by static initializers; returns 1. */
int kmm_cuda_register_clone(const void *clone, const void *original);

#ifdef __cplusplus
}
#endif

#if defined(__CUDACC__)
/* The block index and the grid as the original launch has them. */
static __device__ __forceinline__ uint3 kmm_block_index(const kmm_blocks_t &kmm_blocks)
{
    return make_uint3(blockIdx.x + kmm_blocks.offset_x, blockIdx.y + kmm_blocks.offset_y, blockIdx.z + kmm_blocks.offset_z);
}

static __device__ __forceinline__ dim3 kmm_grid_dim(const kmm_blocks_t &kmm_blocks)
{
    return dim3(kmm_blocks.grid_x, kmm_blocks.grid_y, kmm_blocks.grid_z);
}
#endif

#endif
