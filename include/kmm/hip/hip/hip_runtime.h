/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's interface, made of CUDA's. HIP source includes this header when kmmcc compiles it for the
 * CPU (then cuda_runtime.h is kmm's own) or calls nvcc for NVIDIA GPUs. For AMD GPUs the source
 * includes HIP's own headers, and only kmmcc's parser reads this one.
 */
#ifndef KMM_HIP_RUNTIME_H
#define KMM_HIP_RUNTIME_H

#include <cuda_runtime.h>

#include "kmm_hip_names.h"

#if !defined(__HIP_PLATFORM_NVIDIA__) /* what only nvcc defines: source may ask which of the two   \
                                         compiles it */
#undef __CUDACC__
#undef CUDART_VERSION
#endif

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device begin
#endif
#include "kmm_hip_device.h"
#include "kmm_hip_launch.h"
#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device end
#endif

#endif
