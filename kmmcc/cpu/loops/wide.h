/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wide blocks: blocks that are adjacent along x can run as one if the code uses a thread's position
 * along x only as blockIdx.x * blockDim.x + threadIdx.x.
 */
#ifndef KMMCC_CPU_LOOPS_WIDE_H
#define KMMCC_CPU_LOOPS_WIDE_H

#include <stdbool.h>

#include "cpu/tree/tree.h"

/* True if that is so in the tree `n`. */
bool wide_is_possible(const node_t *n);

#endif
