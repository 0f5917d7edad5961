/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the threads of a block use: which variable an address lies in, what other pointers
 * may point to, and atomics of shared memory.
 */
#ifndef KMMCC_CPU_LOOPS_MEMORY_H
#define KMMCC_CPU_LOOPS_MEMORY_H

#include <stdbool.h>

#include "cpu/loops/emitter.h"
#include "cpu/tree/tree.h"

/* The variable whose memory the address is in; NULL: that is not seen. */
const variable_t *memory_variable(const node_t *n);
/* A call of an atomic operation on shared memory. */
bool memory_is_shared_atomic(const node_t *n);
/* One thread of the CPU runs a block: atomics of shared memory need not be atomic. */
void memory_edit_atomics(emitter_t *e, const node_t *n);
/* An access to memory outside the block that another pointer may also point to. */
bool memory_may_alias(const node_t *n);

#endif
