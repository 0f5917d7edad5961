/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's interface does not exist on the CPU; its version does, which programs test. */
#ifndef KMM_HOST_CUDA_H
#define KMM_HOST_CUDA_H
#define CUDA_VERSION 13000
#include "cuda_runtime.h"
#endif
