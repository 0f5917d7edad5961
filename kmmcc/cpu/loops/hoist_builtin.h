/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hoists the collective operations of include/kmm/host/kmm_block.h: votes, shuffles and other
 * exchanges between the threads of a block or warp.
 */
#ifndef KMMCC_CPU_LOOPS_HOIST_BUILTIN_H
#define KMMCC_CPU_LOOPS_HOIST_BUILTIN_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Hoists one call. False if the function cannot be split. */
bool hoist_builtin(emitter_t *e, node_t *call);

#endif
