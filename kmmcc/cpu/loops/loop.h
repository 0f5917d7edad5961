/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes loops with barriers in them. A loop of which all threads run the same rounds stays a loop.
 * In any other loop, a thread that has left gets the loop's state, and the loop ends when all
 * threads have left.
 */
#ifndef KMMCC_CPU_LOOPS_LOOP_H
#define KMMCC_CPU_LOOPS_LOOP_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Writes the loop. */
void loop_emit(emitter_t *e, node_t *n);

#endif
