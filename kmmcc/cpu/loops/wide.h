/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether blocks that lie side by side are as good as one wide block: the code asks for the
 * thread's place along x only as blockIdx.x * blockDim.x + threadIdx.x.
 */
#ifndef KMMCC_CPU_LOOPS_WIDE_H
#define KMMCC_CPU_LOOPS_WIDE_H

#include <stdbool.h>

#include "cpu/tree/tree.h"

bool wide_is_possible(const node_t *n);

#endif
