/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `switch` with barriers in it. The statements behind a label are a group; first each thread, or
 * the block, finds the group that it begins with, then the groups run in order.
 */
#ifndef KMMCC_CPU_LOOPS_SWITCH_H
#define KMMCC_CPU_LOOPS_SWITCH_H

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

void switch_emit(emitter_t *e, node_t *n);

#endif
