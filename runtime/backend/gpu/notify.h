/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications on a GPU. backend.h is the contract of functions without a comment. */
#ifndef KMM__BACKEND_GPU_NOTIFY_H
#define KMM__BACKEND_GPU_NOTIFY_H

#include "backend/gpu/driver.h"

/* Starts the thread that delivers the device's notifications. Returns 0 or KMM_E_MEMORY. */
int kmm__gpu_watch_start(kmm__gpu_t *gpu);
/* Ends that thread once all notifications are delivered, and destroys the device's spare events. */
void kmm__gpu_watch_stop(kmm__gpu_t *gpu);

int kmm__gpu_notify(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg);
int kmm__gpu_notify_timed(kmm__stream_t *s, void (*fn)(void *arg, int status, uint64_t time),
                          void *arg);
int kmm__gpu_notify_event(kmm__stream_t *s, const kmm__event_t *e,
                          void (*fn)(void *arg, int status), void *arg);

/* Called with gpu->lock. Returns an event, one that has a time if is_timed, that is recorded on the
 * driver's stream; NULL: the driver refuses one. */
void *kmm__gpu_event_take(kmm__gpu_t *gpu, void *stream, bool is_timed);
/* Called with gpu->lock. Keeps the event for another notification. */
void kmm__gpu_event_keep(kmm__gpu_t *gpu, void *event, bool is_timed);

#endif
