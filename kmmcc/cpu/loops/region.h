/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions: statements between barriers, run by a loop over the threads. The variables that a region
 * uses are declared at its beginning, as their storage says.
 */
#ifndef KMMCC_CPU_LOOPS_REGION_H
#define KMMCC_CPU_LOOPS_REGION_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Opens one unless one is open. */
void region_open(emitter_t *e);
/* Adds a statement's text behind its #line. */
void region_add(emitter_t *e, const node_t *n, const char *text);
/* Notes the variables that an expression or statement of the open region uses. */
void region_note_uses(emitter_t *e, const node_t *n);
/* Some statement of the open region changes the states of threads. */
void region_change_state(emitter_t *e);
/* Writes the open region, if there is one. */
void region_close(emitter_t *e);

#endif
