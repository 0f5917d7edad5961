/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels, as include/kmm/host/kmm_launch.h shows: the body moves into a function of a local
 * struct, for a block if it can be split, else for a thread, which is then a fiber.
 */
#ifndef KMMCC_CPU_KERNEL_H
#define KMMCC_CPU_KERNEL_H

#include "clang/unit.h"
#include "cpu/program/program.h"

void kernel_edit(unit_t *u, const kernel_t *k, const program_t *h);

#endif
