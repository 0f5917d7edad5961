/* SPDX-License-Identifier: Apache-2.0 */
/* Order by reuse: in which order a device that is short of memory takes its tasks. All functions
 * are called with the runtime's lock. */
#ifndef KMM__MEMORY_RESIDENCY_REUSE_H
#define KMM__MEMORY_RESIDENCY_REUSE_H

#include "memory/residency/frame.h"

/* A task joins no wave that began more than so many tasks before it. So at most so many later tasks
 * overtake a task. */
enum { KMM__MOST_LAG = 1 << 15 };

/* Sets t->rank. t has its device, its accesses and its predecessors, and is not READY yet. */
void kmm__reuse_rank(kmm__task_t *t);
/* Records that t acquires its frames. */
void kmm__reuse_advance(const kmm__task_t *t);
/* Returns the greatest rank of a task that will be taken soon: a frame that it uses is kept. */
uint64_t kmm__reuse_near(const kmm__device_t *d);
/* Frees what the device keeps for the order. */
void kmm__reuse_free(kmm__device_t *d);

#endif
