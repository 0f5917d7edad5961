/* SPDX-License-Identifier: Apache-2.0 */
/* The choice whether copies go through staging buffers, by what they cost on this machine.
 * Functions are called without the runtime's lock. */
#ifndef KMM__MEMORY_HOST_STAGE_CHOICE_H
#define KMM__MEMORY_HOST_STAGE_CHOICE_H

#include "backend/device.h"
#include "memory/host/costs.h"

/* True if copies from and to this device may go through staging buffers at all. */
bool kmm__stage_works(kmm__device_t *d);
/* Returns how many times a block's size is copied through staging buffers before the block is
 * page-locked. The block is of an array of `bytes` bytes; a large array has the costs measured,
 * unless an earlier process has measured them. Only called if kmm__stage_works. */
double kmm__stage_times(kmm__device_t *d, uint64_t bytes);
/* Sets *out to the measured costs, and *times to what follows from them. False: they are not known.
 */
bool kmm__stage_costs(kmm_runtime_t *rt, kmm__copy_costs_t *out, double *times);

#endif
