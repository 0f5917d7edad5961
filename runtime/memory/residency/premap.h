/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a device that prefetches frames. */
#ifndef KMM__MEMORY_RESIDENCY_PREMAP_H
#define KMM__MEMORY_RESIDENCY_PREMAP_H

#include "memory/state.h"

/* Locked, by d's thread: a task has needed frames that none had used before, so those behind it may
 * too. */
void kmm__premap_wake(kmm__device_t *d);
void kmm__premap_stop(kmm__device_t *d); /* not locked; the runtime is stopping */

#endif
