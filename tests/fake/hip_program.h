/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a HIP program, as the fake HIP runtime finds them. */
#ifndef FAKE_HIP_PROGRAM_H
#define FAKE_HIP_PROGRAM_H

#include "fake_gpu.h"

/* The kernel of a host function: one that the program registered, from the library that
 * KMM_FAKE_KERNELS names; else the function is the address of a fake_kernel_t. */
fake_kernel_t *fake_hip_kernel(const void *function);

#endif
