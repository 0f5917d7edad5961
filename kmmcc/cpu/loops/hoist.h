/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hoists collective operations out of expressions. In one phase the threads store their operands.
 * Then the block runs the operation once for all threads. Each thread's result takes the place of
 * the call.
 */
#ifndef KMMCC_CPU_LOOPS_HOIST_H
#define KMMCC_CPU_LOOPS_HOIST_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Hoists the collective operations of `n`, which is a part of the expression `whole`. False if the
 * function cannot be split. */
bool hoist(emitter_t *e, node_t *n, const node_t *whole);

#endif
