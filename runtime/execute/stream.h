/* SPDX-License-Identifier: Apache-2.0 */
/* Issues tasks on the streams of a device with memory of its own. */
#ifndef KMM__EXECUTE_STREAM_H
#define KMM__EXECUTE_STREAM_H

#include "memory/transfer.h"

/* Locked: removes the first task from the device's ready queue. NULL: none may be issued now. */
kmm__task_t *kmm__ready_pop(kmm__device_t *d);

/* Locked, by the device's thread; unlocks meanwhile. Issues t, and with it ready tasks behind it as
 * long as they are small, need no copies, and have all their frames mapped. */
void kmm__issue_on_stream(kmm__task_t *t);

/* Not locked: enqueues copies, waits and kernel of a task whose frames are pinned; not its event.
 * Returns 0 or an error. */
int kmm__enqueue(kmm__task_t *t, kmm__moves_t *moves);

/* Takes the runtime's lock, for a device's thread. Threads that submit see that it waits, and
 * release the lock. */
void kmm__device_lock(kmm_runtime_t *rt);

#endif
