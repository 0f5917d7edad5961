/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP by CUDA's names: what HIP source includes when kmmcc compiles it for the CPU (then
 * cuda_runtime.h is kmm's own), or by nvcc for NVIDIA's GPUs. For AMD's GPUs the source includes
 * HIP's own headers, and this one only while kmmcc parses it.
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
