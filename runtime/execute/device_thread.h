/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of each device, which takes ready tasks and issues them. */
#ifndef KMM__EXECUTE_DEVICE_THREAD_H
#define KMM__EXECUTE_DEVICE_THREAD_H

#include "execute/queue.h"

void kmm__device_queue_start(kmm__device_t *d); /* makes d->queue */
/* Makes the device's streams and starts its thread. Returns 0 or an error with its text. */
int kmm__device_start(kmm__device_t *d);
/* Ends the thread, once the runtime is stopping. */
void kmm__device_end(kmm__device_t *d);
void kmm__device_queue_stop(kmm__device_t *d); /* frees d->queue; the device is closed */

/* Locked: t is READY. Queues it for its device's thread, or, if nothing has to be brought for it,
 * issues it at once. */
void kmm__ready_push(kmm__task_t *t);
/* Locked: a thread waits for tasks with lower numbers than `end`, or for `awaited` alone. Puts them
 * first. */
void kmm__ready_await(kmm_runtime_t *rt, uint64_t end, const kmm__task_t *awaited);

#endif
