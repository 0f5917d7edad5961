/* SPDX-License-Identifier: Apache-2.0 */
/* Premapping: a thread of a device that maps frames before the tasks that need them are issued. */
#ifndef KMM__MEMORY_RESIDENCY_PREMAP_H
#define KMM__MEMORY_RESIDENCY_PREMAP_H

#include "memory/state.h"

/* Locked, by d's thread: wakes the premapper, or starts it. A task has needed frames that no task
 * had used, so tasks queued behind it may, too. */
void kmm__premap_wake(kmm__device_t *d);
/* Not locked; ends the thread, once the runtime is stopping. */
void kmm__premap_stop(kmm__device_t *d);

#endif
