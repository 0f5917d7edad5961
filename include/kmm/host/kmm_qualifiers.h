/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's qualifiers of functions and variables, as attributes for kmmcc's parser and as nothing
 * or thread_local for the C++ compiler. */
#ifndef KMM_HOST_QUALIFIERS_H
#define KMM_HOST_QUALIFIERS_H

#ifdef KMM_HOST_PARSE
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#else
#define __host__
#define __device__
#define __global__
/* thread_local, since a thread of the CPU runs one block at a time */
#define __shared__ static thread_local
#define __constant__
#define __managed__
#endif
#define __launch_bounds__(...)
#define __grid_constant__
#define __forceinline__ inline __attribute__((__always_inline__))
#define __noinline__ /* empty, since the C++ library writes __attribute__((__noinline__)) */
#define __align__(n) __attribute__((__aligned__(n)))
#define __builtin_align__(n) __align__(n)
#define CUDARTAPI
#define CUDART_CB

/* ISO C++ has no integers of 16 bytes. */
__extension__ typedef __int128 kmm_host_int_16;
__extension__ typedef unsigned __int128 kmm_host_bits_16;

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __NVCC__ /* programs test it before they declare a function for the device too */
#define __NVCC__ 1
#endif
#define CUDART_VERSION 13000
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
/* The include guards of the toolkit's headers. Programs test them to learn if a header is included.
 */
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#endif
