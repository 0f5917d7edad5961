/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes `switch` statements with barriers in them. The statements behind a label are a group.
 * First each thread, or the block, finds the group that it begins with. Then the groups run in
 * order.
 */
#ifndef KMMCC_CPU_LOOPS_SWITCH_H
#define KMMCC_CPU_LOOPS_SWITCH_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Writes the switch. */
void switch_emit(emitter_t *e, node_t *n);

#endif
