/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes strided loops: `for (int i = first + threadIdx.x; i < n; i += stride)` without barriers.
 * The block runs each round for all its threads. So memory is accessed in order, and the compiler
 * can vectorize over the threads.
 */
#ifndef KMMCC_CPU_LOOPS_STRIDED_H
#define KMMCC_CPU_LOOPS_STRIDED_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Writes the statement if it is a strided loop; otherwise returns false. */
bool strided_emit(emitter_t *e, node_t *n);

#endif
