/* SPDX-License-Identifier: Apache-2.0 */
/* The header that CUDA source includes after kmmcc has rewritten it. */
#ifndef KMM_CUDA_H
#define KMM_CUDA_H

#include <stddef.h>

#define KMM__WRAPPED 1 /* the object is linked by kmmcc */
#include "clone.h"
#include "names_begin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `clone` is the kernel `original` with a kmm_blocks_t before its other parameters: a launch of
 * either runs the clone where it is split, and the original where it stays one chunk. Called by
 * static initializers; returns 1. */
int kmm_cuda_register_clone(const void *clone, const void *original);

/* Gives a __device__ variable's value on the current device to all others. */
void kmm_cuda_share_symbol(const void *symbol, size_t bytes);

#ifdef __cplusplus
}

/* Called before a launch in chunks whose kernel reads a variable that another kernel has changed on
 * one device. */
template <class T> static inline void kmm_share(const T &symbol)
{
    kmm_cuda_share_symbol(__builtin_addressof(symbol), sizeof(symbol));
}
#endif

#include "names_end.h"
#endif
