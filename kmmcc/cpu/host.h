/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and launches of CUDA and HIP source as C++ for the CPU. */
#ifndef KMMCC_CPU_HOST_H
#define KMMCC_CPU_HOST_H

#include "clang/unit.h"

/* Appends the edits that turn all kernels and all launches of the parsed files into C++ for the
 * CPU. Launches that a directive governs are edited here too (the text that replaces
 * `k<<<cfg>>>(args)`); emit/rewrite.c puts the description of the launch before it. */
void host_kernels(unit_t *u);

#endif
