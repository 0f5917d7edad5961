/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a GPU: when the device reached an event, as a time of the host's clock. */
#ifndef KMM__BACKEND_GPU_CLOCK_H
#define KMM__BACKEND_GPU_CLOCK_H

#include "backend/gpu/driver.h"

/* A point in time by both clocks. Used by the thread that delivers notifications alone. */
typedef struct kmm__gpu_clock {
    void *stream; /* the driver's, for the clock alone; NULL: there is none yet */
    void *event;  /* that the device has reached */
    void *other;  /* for the next comparison */
    uint64_t at;  /* of kmm__now: when the device reached `event`; 0: the clocks are not tied */
} kmm__gpu_clock_t;

/* Returns when the device reached the event, of kmm__now; 0: the driver does not tell. The event is
 * timed and done. The two clocks are compared anew when a second has passed. */
uint64_t kmm__gpu_clock_read(kmm__gpu_t *gpu, void *event);

void kmm__gpu_clock_end(kmm__gpu_t *gpu);

#endif
