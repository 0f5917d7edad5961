/* SPDX-License-Identifier: Apache-2.0 */
/* The note about programs that wait in each step of a loop whose data does not fit. All functions
 * are called with the runtime's lock. */
#ifndef KMM__MEMORY_RESIDENCY_LOOKAHEAD_H
#define KMM__MEMORY_RESIDENCY_LOOKAHEAD_H

#include "memory/array.h"

/* Records that a task is submitted to a device on which not all arrays have room. */
void kmm__lookahead_begin(const kmm__task_t *t);
/* Records that a thread waits for what was submitted: for `awaited`, or for work in general if it
 * is NULL. */
void kmm__lookahead_end(kmm_runtime_t *rt, const kmm__task_t *awaited);

#endif
