/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmmcc's parser includes this header before all others. Kernels on a CPU may call the functions of
 * the C library and of kmm, so these are declared for host and device. The C++ library's functions
 * are not, except constexpr ones. clang declares __syncthreads itself, so kmm's has another name.
 */
#ifndef KMM_HOST_PARSE_H
#define KMM_HOST_PARSE_H

#if defined(KMM_PARSE_LIGHT) || defined(KMM_PARSE_DEVICE)
#include <new>
#define __CLANG_CUDA_WRAPPERS_NEW /* operators new and delete are as declared there: none of       \
                                     clang's additions */
#endif
#pragma clang force_cuda_host_device begin
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS /* the C headers themselves, without the C++ library's     \
                                           additions */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef KMM_PARSE_LIGHT /* otherwise cuda_runtime.h includes some of them too */
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#endif
#pragma clang force_cuda_host_device end
#ifndef KMM_PARSE_LIGHT
#include <new>
#endif
/* Device versions, since the C++ library declares them for the host alone. */
__attribute__((device)) inline void *operator new(__SIZE_TYPE__, void *p) noexcept { return p; }
__attribute__((device)) inline void *operator new[](__SIZE_TYPE__, void *p) noexcept { return p; }
__attribute__((device)) inline void operator delete(void *, void *) noexcept {}
__attribute__((device)) inline void operator delete[](void *, void *) noexcept {}
#define __syncthreads kmm_host_syncthreads

#endif
