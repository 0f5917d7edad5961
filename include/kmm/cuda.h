/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA source rewritten by kmmcc includes. */
#ifndef KMM_CUDA_H
#define KMM_CUDA_H

#include "clone.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `clone` is the kernel `original` with a kmm_blocks_t before its other parameters: a launch of either runs the clone
 * where it is split, and the original where it stays one chunk. Called by static initializers; returns 1. */
int kmm_cuda_register_clone(const void *clone, const void *original);

#ifdef __cplusplus
}
#endif

#endif
