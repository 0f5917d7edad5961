/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included first when kmmcc parses: what the C library and kmm define may be called by kernels, as
 * it may on a CPU. The C++ library stays as it is: what is constexpr in it may be called too. clang
 * declares
 * __syncthreads itself, so kmm's has another name.
 */
#ifndef KMM_HOST_PARSE_H
#define KMM_HOST_PARSE_H

#ifdef KMM_PARSE_LIGHT
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
#ifndef KMM_PARSE_LIGHT /* else cuda_runtime.h includes some of them, too */
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#endif
#pragma clang force_cuda_host_device end
#ifndef KMM_PARSE_LIGHT
#include <new>
#endif
/* The C++ library's are the host's alone. */
__attribute__((device)) inline void *operator new(__SIZE_TYPE__, void *p) noexcept { return p; }
__attribute__((device)) inline void *operator new[](__SIZE_TYPE__, void *p) noexcept { return p; }
__attribute__((device)) inline void operator delete(void *, void *) noexcept {}
__attribute__((device)) inline void operator delete[](void *, void *) noexcept {}
#define __syncthreads kmm_host_syncthreads

#endif
