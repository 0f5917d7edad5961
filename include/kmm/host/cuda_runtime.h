/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's runtime for the CPU target of kmmcc: what CUDA source sees when it is compiled with no CUDA
 * toolkit. It is read twice: by libclang as CUDA (__CUDA__ is defined), where the qualifiers are
 * attributes and kernels are only looked at; and by gcc or clang as C++17, after kmmcc has turned
 * kernels into functions that run some blocks.
 */
#ifndef KMM_HOST_CUDA_RUNTIME_H
#define KMM_HOST_CUDA_RUNTIME_H

#ifndef __cplusplus
#error "kmm's cuda_runtime.h is for C++; compile this file with -x cu, or include it from a .cu file"
#endif

#include <exception>
#include <new> /* operators new and delete have their own rule, and need none of clang's additions */
#define __CLANG_CUDA_WRAPPERS_NEW

/* Whatever follows may be called by host and device: kernels on the CPU call what they like. Not
 * ended, so that it holds for the whole file. */
#ifdef __CUDA__
#pragma clang force_cuda_host_device begin
#endif

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <type_traits>

#include "../cuda_api.h"
#include "../launch.h"
#include "fiber.h"

#include "qualifiers.h"
#include "vector_types.h"
#include "kernel.h"
#include "math_functions.h"
#include "atomics.h"
#include "warp.h"

#include "runtime_api.h"

#endif
