/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps. In a phase a jump ends it for the thread, and one that leads out of it changes the
 * thread's state; a jump to which all threads come stays one of the block.
 */
#ifndef KMMCC_CPU_LOOPS_JUMP_H
#define KMMCC_CPU_LOOPS_JUMP_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Edits the jumps in a statement of the open phase. */
void jump_edit_all(emitter_t *e, const node_t *n);
/* A jump to which all threads come that are here. */
void jump_emit(emitter_t *e, node_t *n);

#endif
