/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hoists calls of functions that have barriers. The threads store their arguments. The function
 * runs once for all of them (include/kmm/host/kmm_call.h). Each thread's result takes the place of
 * the call.
 */
#ifndef KMMCC_CPU_LOOPS_HOIST_CALL_H
#define KMMCC_CPU_LOOPS_HOIST_CALL_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Hoists one call. False if the function cannot be split. */
bool hoist_call(emitter_t *e, node_t *call);

#endif
