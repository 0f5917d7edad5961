/* SPDX-License-Identifier: Apache-2.0 */
/* The end of arrays on a device, by the device's own thread. */
#ifndef KMM__MEMORY_RESIDENCY_SERVICE_H
#define KMM__MEMORY_RESIDENCY_SERVICE_H

#include "memory/state.h"

/* Locked: releases the residences of dead arrays, as far as their frames are not being moved or
 * evicted. Unlocks only if there are dead arrays. */
void kmm__frames_service(kmm__device_t *d);
/* Not locked; frees spare frames and slabs; all arrays are freed. */
void kmm__frames_close(kmm__device_t *d);

#endif
