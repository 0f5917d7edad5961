/* SPDX-License-Identifier: Apache-2.0 */
/* What HIP source rewritten by kmmcc includes. */
#ifndef KMM_HIP_H
#define KMM_HIP_H

#include "clone.h"

#if defined(__HIP_PLATFORM_NVIDIA__) || defined(__HIP_PLATFORM_NVCC__)
#include "cuda.h"
#define kmm_hip_register_clone kmm_cuda_register_clone
#else

#ifdef __cplusplus
extern "C" {
#endif

/* The same as kmm_cuda_register_clone. */
int kmm_hip_register_clone(const void *clone, const void *original);

#ifdef __cplusplus
}
#endif
#endif

#endif
