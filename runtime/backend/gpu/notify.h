/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM__BACKEND_GPU_NOTIFY_H
#define KMM__BACKEND_GPU_NOTIFY_H

#include "backend/gpu/driver.h"

/* Starts the thread that delivers the notifications of a device. */
int kmm__gpu_watch_start(kmm__gpu_t *gpu);
/* Ends it when all are delivered, and destroys the device's spare events. */
void kmm__gpu_watch_stop(kmm__gpu_t *gpu);

int kmm__gpu_notify(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg);

/* Both with gpu->lock held. Take: an event recorded on the driver's stream; NULL when the driver
 * refuses one. Keep: the event may be used for another notification. */
void *kmm__gpu_event_take(kmm__gpu_t *gpu, void *stream);
void kmm__gpu_event_keep(kmm__gpu_t *gpu, void *event);

#endif
