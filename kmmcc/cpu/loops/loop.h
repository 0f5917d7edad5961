/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops with barriers in them. One whose threads all make the same rounds stays a loop; in another,
 * threads that have left get its state, and it ends when all have.
 */
#ifndef KMMCC_CPU_LOOPS_LOOP_H
#define KMMCC_CPU_LOOPS_LOOP_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

void loop_emit(emitter_t *e, node_t *n);

#endif
