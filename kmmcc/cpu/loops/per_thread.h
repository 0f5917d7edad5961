/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements that each thread runs for itself: they are added to the open phase, or make one that
 * is limited to the threads that their condition chooses.
 */
#ifndef KMMCC_CPU_LOOPS_PER_THREAD_H
#define KMMCC_CPU_LOOPS_PER_THREAD_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Whether the statement's text can be copied; macros and #if may prevent it. */
bool per_thread_can_copy(emitter_t *e, const node_t *n);
void per_thread_emit(emitter_t *e, const node_t *n);

#endif
