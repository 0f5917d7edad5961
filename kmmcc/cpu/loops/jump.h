/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes jumps: return, break and continue. A jump out of a phase ends the phase for the thread,
 * and sets the thread's state. A jump that is a statement of the block stays a jump if all threads
 * reach it.
 */
#ifndef KMMCC_CPU_LOOPS_JUMP_H
#define KMMCC_CPU_LOOPS_JUMP_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Adds the edits of the jumps in a statement of the open phase that lead out of the phase. */
void jump_edit_all(emitter_t *e, const node_t *n);
/* Writes a jump that is a statement of the block. */
void jump_emit(emitter_t *e, node_t *n);

#endif
