/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of functions that have barriers: the threads bring their arguments, the function runs once
 * for all of them (include/kmm/host/kmm_call.h), and the call becomes its result.
 */
#ifndef KMMCC_CPU_LOOPS_HOIST_CALL_H
#define KMMCC_CPU_LOOPS_HOIST_CALL_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* False: that cannot be done. */
bool hoist_call(emitter_t *e, node_t *call);

#endif
