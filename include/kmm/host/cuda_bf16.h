/* SPDX-License-Identifier: Apache-2.0 */
/* bfloat16, on the CPU. cuda_fp16.h declares both 16-bit formats. */
#ifndef KMM_HOST_CUDA_BF16_H
#define KMM_HOST_CUDA_BF16_H
#include "cuda_fp16.h"
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
