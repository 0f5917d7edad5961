/* SPDX-License-Identifier: Apache-2.0 */
/* The upkeep of a device's frames, by its own thread. */
#ifndef KMM__MEMORY_RESIDENCY_SERVICE_H
#define KMM__MEMORY_RESIDENCY_SERVICE_H

#include "memory/state.h"

/* Locked: unmaps what was evicted, and releases dead arrays. Does not unlock for nothing. */
void kmm__frames_service(kmm__device_t *d);
void kmm__frames_close(kmm__device_t *d); /* not locked; all arrays are gone */

#endif
