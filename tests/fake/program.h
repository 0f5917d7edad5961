/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a compiled program, as its fake runtime finds them. */
#ifndef FAKE_PROGRAM_H
#define FAKE_PROGRAM_H

#include "fake_gpu.h"

#ifdef FAKE_CUDA_PROGRAM
#define FAKE_HIP_PROGRAM 0
#define api(name) cuda##name
#define compiler(name) __cuda##name
#else
#define FAKE_HIP_PROGRAM 1
#define api(name) hip##name
#define compiler(name) __hip##name
#endif

typedef struct fake_dim3 {
    unsigned x, y, z;
} fake_dim3_t;

/* The kernel of a host function: one that the program registered, from the library that
 * KMM_FAKE_KERNELS names; else the function is the address of a fake_kernel_t. */
fake_kernel_t *fake_program_kernel(const void *function);

#endif
