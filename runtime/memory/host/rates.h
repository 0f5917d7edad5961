/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how many devices should copy at once. Functions are called without the runtime's lock.
 */
#ifndef KMM__MEMORY_HOST_RATES_H
#define KMM__MEMORY_HOST_RATES_H

#include "backend/device.h"

uint64_t kmm__rates_bytes(const kmm__device_t *d); /* bytes of one copy that is measured */
/* Returns the number of these devices that copy the most in all, if they copy both ways at once:
 * the least such number, or `count` if it could not be measured. Nothing else may copy meanwhile.
 */
uint32_t kmm__rates_measure(kmm__device_t *const *devices, uint32_t count, bool *measured);

#endif
