/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective operations that kmm_block.h has: votes, shuffles and other exchanges of the threads of
 * a block or warp.
 */
#ifndef KMMCC_CPU_LOOPS_HOIST_BUILTIN_H
#define KMMCC_CPU_LOOPS_HOIST_BUILTIN_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* False: that cannot be done. */
bool hoist_builtin(emitter_t *e, node_t *call);

#endif
