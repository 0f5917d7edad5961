/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective operations are taken out of the expressions in which they stand: a phase in which the
 * threads bring their operands, the operation for all of them, and each thread's result in place of
 * the call.
 */
#ifndef KMMCC_CPU_LOOPS_HOIST_H
#define KMMCC_CPU_LOOPS_HOIST_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Takes out all that `n` holds, a part of `whole`. False: that cannot be done. */
bool hoist(emitter_t *e, node_t *n, const node_t *whole);

#endif
