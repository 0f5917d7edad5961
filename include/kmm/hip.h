/* SPDX-License-Identifier: Apache-2.0 */
/* The header that HIP source includes after kmmcc has rewritten it. */
#ifndef KMM_HIP_H
#define KMM_HIP_H

#include <stddef.h>

#define KMM__WRAPPED 1 /* the object is linked by kmmcc */
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

/* Called before a launch in chunks whose kernel reads a variable that another kernel has changed on
 * one device. */
template <class T> static inline void kmm_share(const T &symbol)
{
    kmm_hip_share_symbol(__builtin_addressof(symbol), sizeof(symbol));
}
#endif
#endif

#include "names_end.h"
#endif
