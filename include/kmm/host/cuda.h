/* SPDX-License-Identifier: Apache-2.0 */
/* The version of CUDA's driver interface, which programs test. The CPU target has no calls of that
 * interface. */
#ifndef KMM_HOST_CUDA_H
#define KMM_HOST_CUDA_H
#define CUDA_VERSION 13000
#include "cuda_runtime.h"
#endif
