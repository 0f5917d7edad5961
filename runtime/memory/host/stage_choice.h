/* SPDX-License-Identifier: Apache-2.0 */
/* Whether copies go through buffers, by what they cost on this machine. Nothing here is called with
 * the runtime's lock held. */
#ifndef KMM__MEMORY_HOST_STAGE_CHOICE_H
#define KMM__MEMORY_HOST_STAGE_CHOICE_H

#include "backend/device.h"
#include "memory/host/costs.h"

/* Whether copies from and to this device are made through buffers at all. */
bool kmm__stage_works(kmm__device_t *d);
/* How many times its size of a block of an array of `bytes` is copied through them before it is
 * page-locked: by what both cost, which a large array has measured unless an earlier process has
 * done so. Only where copies through buffers work. */
double kmm__stage_times(kmm__device_t *d, uint64_t bytes);
/* What they cost; false: that is not known. */
bool kmm__stage_costs(kmm_runtime_t *rt, kmm__copy_costs_t *out, double *times);

#endif
