/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of each device, which takes tasks that are ready and issues them. */
#ifndef KMM__EXECUTE_DEVICE_THREAD_H
#define KMM__EXECUTE_DEVICE_THREAD_H

#include "execute/queue.h"

void kmm__device_queue_start(kmm__device_t *d); /* makes the device's part */
/* Makes the device's streams and starts its thread. 0 or an error with its text. */
int kmm__device_start(kmm__device_t *d);
/* The runtime stops: ends the thread. */
void kmm__device_end(kmm__device_t *d);
void kmm__device_queue_stop(kmm__device_t *d); /* frees the part; the device is closed */

/* Locked: nothing keeps t from being issued. */
void kmm__ready_push(kmm__task_t *t);

#endif
