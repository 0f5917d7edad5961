/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA for the CPU. Source compiled by `kmmcc --target=host` includes this header in place of the
 * CUDA toolkit's. kmmcc's parser reads it as CUDA (with KMM_HOST_PARSE defined); a C++ compiler
 * then compiles the rewritten source with it.
 */
#ifndef KMM_HOST_CUDA_RUNTIME_H
#define KMM_HOST_CUDA_RUNTIME_H

#ifndef __cplusplus
#error "kmm: cuda_runtime.h for the CPU is C++; compile this file as .cpp or .cu"
#endif

#include <assert.h>
#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef KMM_PARSE_LIGHT
#include <cmath>
#include <utility>
#endif
#include <new>
#include <type_traits>

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device begin
#endif

#include "kmm_qualifiers.h"
#include "kmm_vectors.h"
#include "kmm_launch.h"
#include "kmm_call.h"
#include "kmm_device.h"
#include "kmm_atomics.h"
#include "kmm_warp.h"
#include "kmm_math.h"
#include "kmm_rounding.h"
#include "kmm_intrinsics.h"
#include "kmm_video.h"
#include "kmm_types.h"
#include "kmm_api.h"
#include "kmm_calls.h"
#include "kmm_more.h"
#include "kmm_missing.h"

#ifdef KMM_HOST_PARSE
#pragma clang force_cuda_host_device end
#endif
#ifdef KMM_PARSE_LIGHT
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#endif

#endif
