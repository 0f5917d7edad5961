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

bool hoist_exchange(emitter_t *e, node_t *call, const char *type);
bool hoist_ballot(emitter_t *e, node_t *call);
bool hoist_is_uniform_shuffle(const emitter_t *e, const node_t *call);
bool hoist_uniform_shuffle(emitter_t *e, node_t *call);
bool hoist_match_all(emitter_t *e, node_t *call);

#endif
