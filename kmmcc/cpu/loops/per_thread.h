/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes statements that each thread runs by itself. A statement is added to the open phase. A
 * branch may get a phase of its own, limited to the threads that its condition can choose.
 */
#ifndef KMMCC_CPU_LOOPS_PER_THREAD_H
#define KMMCC_CPU_LOOPS_PER_THREAD_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* True if the statement's text can be copied. Otherwise, as with some macros and #if, the function
 * cannot be split. */
bool per_thread_can_copy(emitter_t *e, const node_t *n);
/* Writes the statement. */
void per_thread_emit(emitter_t *e, const node_t *n);

#endif
