/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of the host's memory near each device. Nothing here is called with the runtime's lock. */
#ifndef KMM__MEMORY_HOST_NUMA_H
#define KMM__MEMORY_HOST_NUMA_H

#include "memory/state.h"

void kmm__numa_start(kmm_runtime_t *rt);
/* The runtime is going to have GPUs: what is asked below is found out meanwhile. */
void kmm__numa_prepare(kmm_runtime_t *rt);
void kmm__numa_stop(kmm_runtime_t *rt);

/* The node nearest to the device, or one of those; -1: all are alike, or it is not known. */
int kmm__numa_node(kmm__device_t *d);
/* Has whole pages of ours that nothing has touched yet come from nodes near the device, if there is
 * room. */
void kmm__numa_bind(kmm__device_t *d, void *at, size_t bytes);

#endif
