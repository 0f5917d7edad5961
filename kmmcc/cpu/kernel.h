/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites kernels as include/kmm/host/kmm_launch.h shows. A kernel's body moves into a function of
 * a local struct. The function runs a whole block if the body can be split at its barriers.
 * Otherwise it runs one thread, and the threads of a kernel with barriers are fibers.
 */
#ifndef KMMCC_CPU_KERNEL_H
#define KMMCC_CPU_KERNEL_H

#include "clang/unit.h"
#include "cpu/program/program.h"

/* Adds the edits of a kernel. */
void kernel_edit(unit_t *u, const kernel_t *k, const program_t *h);

#endif
