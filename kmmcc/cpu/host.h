/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites the kernels and launches of CUDA and HIP source as C++ for the CPU. */
#ifndef KMMCC_CPU_HOST_H
#define KMMCC_CPU_HOST_H

#include "clang/unit.h"

/* Adds the edits that turn all kernels and all launches of the parsed files into C++ for the CPU.
 * Launches that a directive governs are among them; emit/rewrite.c puts the description of a launch
 * before its edit. */
void host_kernels(unit_t *u);

#endif
