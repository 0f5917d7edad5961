/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out if the threads of a phase are independent, so that the compiler may vectorize over
 * them. No thread uses what another one changes, and no variable is in memory that the threads use
 * in turn.
 */
#ifndef KMMCC_CPU_LOOPS_INDEPENDENCE_H
#define KMMCC_CPU_LOOPS_INDEPENDENCE_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Clears e->is_independent if the statement makes the threads of the open phase dependent.
 * Otherwise adds the types in it that depend on a template to e->generic. */
void independence_note(emitter_t *e, const node_t *n);
/*
 * Sets has_stored, reads_after_store and has_strides of the open phase by the statement's accesses
 * to memory.
 */
void independence_note_order(emitter_t *e, const node_t *n);

#endif
