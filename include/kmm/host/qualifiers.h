/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM_HOST_QUALIFIERS_H
#define KMM_HOST_QUALIFIERS_H

#ifdef __CUDA__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
/* One block at a time runs on a thread of the CPU, so what a block shares is the thread's. */
#define __shared__ static thread_local
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#endif

#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#ifndef __restrict
#define __restrict __restrict__
#endif
#define CUDARTAPI
#define CUDART_CB
/* The version of CUDA whose calls these are; a program may ask for it. */
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000

#endif
