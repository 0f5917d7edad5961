/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the threads of a block use: the variable that an address is in, accesses that may
 * alias, and atomic operations on shared memory.
 */
#ifndef KMMCC_CPU_LOOPS_MEMORY_H
#define KMMCC_CPU_LOOPS_MEMORY_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* Returns the variable whose memory the address is in; NULL if that cannot be seen. */
const variable_t *memory_variable(const node_t *n);
/* True for a call of an atomic operation on shared memory. */
bool memory_is_shared_atomic(const node_t *n);
/* Adds the edits that replace atomic operations on shared memory by plain ones: one thread of the
 * CPU runs the whole block. */
void memory_edit_atomics(emitter_t *e, const node_t *n);
/* True for an access to memory outside the block that another pointer may point to as well. */
bool memory_may_alias(const node_t *n);

#endif
