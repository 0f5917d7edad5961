/* SPDX-License-Identifier: Apache-2.0 */
/* NUMA nodes of host memory near each device. Functions are called without the runtime's lock. */
#ifndef KMM__MEMORY_HOST_NUMA_H
#define KMM__MEMORY_HOST_NUMA_H

#include "memory/state.h"

void kmm__numa_start(kmm_runtime_t *rt);
/* Starts a thread that finds the nodes near each GPU. Called when the runtime is going to have
 * GPUs. */
void kmm__numa_prepare(kmm_runtime_t *rt);
void kmm__numa_stop(kmm_runtime_t *rt);

/* Returns a node nearest to the device. -1: all are alike, or it is not known. */
int kmm__numa_node(kmm__device_t *d);
/* Makes OS pages of libkmm that nothing has touched yet come from nodes near the device, if these
 * have room. */
void kmm__numa_bind(kmm__device_t *d, void *at, size_t bytes);

#endif
