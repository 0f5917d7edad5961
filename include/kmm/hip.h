/* SPDX-License-Identifier: Apache-2.0 */
/* What HIP source rewritten by kmmcc includes. */
#ifndef KMM_HIP_H
#define KMM_HIP_H

#include <stddef.h>

#include "clone.h"
#include "names_begin.h"

#if defined(__HIP_PLATFORM_NVIDIA__) || defined(__HIP_PLATFORM_NVCC__)
#include "cuda.h"
#define kmm_hip_register_clone kmm_cuda_register_clone
#else

#ifdef __cplusplus
extern "C" {
#endif

/* The same as kmm_cuda_register_clone. */
int kmm_hip_register_clone(const void *clone, const void *original);

/* The same as kmm_cuda_share_symbol. */
void kmm_hip_share_symbol(const void *symbol, size_t bytes);

#ifdef __cplusplus
}

/* Before a launch in chunks of a kernel that reads a variable which another kernel, on one device,
 * has changed. */
template <class T> static inline void kmm_share(const T &symbol)
{
    kmm_hip_share_symbol(__builtin_addressof(symbol), sizeof(symbol));
}
#endif
#endif

#include "names_end.h"
#endif
