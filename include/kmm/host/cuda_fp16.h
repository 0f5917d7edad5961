/* SPDX-License-Identifier: Apache-2.0 */
/* half and bfloat16, on the CPU. */
#ifndef KMM_HOST_CUDA_FP16_H
#define KMM_HOST_CUDA_FP16_H
#include "cuda_runtime.h"
#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device begin
#endif
#include "kmm_half.h"
#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device end
#endif
typedef __half half;
typedef __half2 half2;
#endif
