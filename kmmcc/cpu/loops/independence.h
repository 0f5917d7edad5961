/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the compiler may take the threads of a phase for independent of each other: none uses
 * what another one changes, and nothing lies in memory that they use in turn.
 */
#ifndef KMMCC_CPU_LOOPS_INDEPENDENCE_H
#define KMMCC_CPU_LOOPS_INDEPENDENCE_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Whether the open phase remains one of independent threads, with a statement more. */
void independence_note(emitter_t *e, const node_t *n);
/*
 * Notes in which order a thread loads and stores, and whether threads side by side use what lies
 * side by side.
 */
void independence_note_order(emitter_t *e, const node_t *n);

#endif
