/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM_HOST_QUALIFIERS_H
#define KMM_HOST_QUALIFIERS_H

#ifdef KMM_HOST_PARSE
/* Only kernels are marked: everything else may then be called from everywhere, as it may on a CPU. */
#define __global__ __attribute__((global))
#define __shared__ __attribute__((annotate("kmm shared")))
#define __launch_bounds__(...)
#else
#define __global__
#define __shared__ static thread_local /* a thread runs one block at a time */
#define __launch_bounds__(...)
#endif
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define CUDARTAPI
#define CUDART_CB

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#define CUDART_VERSION 13000
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0

#endif
