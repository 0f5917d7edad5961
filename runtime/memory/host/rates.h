/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how many devices should copy at once. Nothing here is called with the runtime's lock. */
#ifndef KMM__MEMORY_HOST_RATES_H
#define KMM__MEMORY_HOST_RATES_H

#include "backend/device.h"

uint64_t kmm__rates_bytes(const kmm__device_t *d); /* of one copy that is measured */
/* With how many of these devices copying both ways at once the most is copied in all: the fewest
 * that do. `count` where it could not be measured. Nothing else is to copy meanwhile. */
uint32_t kmm__rates_measure(kmm__device_t *const *devices, uint32_t count, bool *measured);

#endif
