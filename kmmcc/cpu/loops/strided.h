/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of threads with a stride: `for (int i = first + threadIdx.x; i < n; i += stride)`, without
 * barriers. The block goes through the loop, its threads side by side: so memory is used in order,
 * and the compiler can make vectors of threads.
 */
#ifndef KMMCC_CPU_LOOPS_STRIDED_H
#define KMMCC_CPU_LOOPS_STRIDED_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* False: the statement is no such loop. */
bool strided_emit(emitter_t *e, node_t *n);

#endif
