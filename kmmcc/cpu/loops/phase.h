/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: the statements between two barriers, run by a loop over the threads of a block. A phase
 * begins with the declarations of the variables that it uses; their storage says how.
 */
#ifndef KMMCC_CPU_LOOPS_PHASE_H
#define KMMCC_CPU_LOOPS_PHASE_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Opens a phase unless one is open. */
void phase_open(emitter_t *e);
/* Adds a statement's text, with its #line before it, to the open phase. */
void phase_add(emitter_t *e, const node_t *n, const char *text);
/* Notes the variables that an expression or statement of the open phase uses. */
void phase_note_uses(emitter_t *e, const node_t *n);
/* Notes that a statement of the open phase changes the states of threads. */
void phase_change_state(emitter_t *e);
/* Writes the open phase, if there is one. */
void phase_close(emitter_t *e);

#endif
