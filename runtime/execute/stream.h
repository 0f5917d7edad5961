/* SPDX-License-Identifier: Apache-2.0 */
/* Issuing tasks on the streams of a device with memory of its own. */
#ifndef KMM__EXECUTE_STREAM_H
#define KMM__EXECUTE_STREAM_H

#include "memory/transfer.h"

/* Locked: the first task in the device's queue, taken from it; NULL: there is none to issue now. */
kmm__task_t *kmm__ready_pop(kmm__device_t *d);

/* Locked, by the device's thread; unlocks meanwhile: issues t and, as long as they need nothing
 * brought and are small, tasks that are ready behind it. */
void kmm__issue_on_stream(kmm__task_t *t);

/* Not locked: enqueues all of a task whose frames are pinned, but for its event. */
int kmm__enqueue(kmm__task_t *t, kmm__moves_t *moves);

/* For a device's thread: takes the runtime's lock, which threads that submit hand over. */
void kmm__device_lock(kmm_runtime_t *rt);

#endif
