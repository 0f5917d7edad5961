/* SPDX-License-Identifier: Apache-2.0 */
/* Placement: which devices a launch uses, and which device runs each chunk. */
#ifndef KMM__LAUNCH_PLACEMENT_H
#define KMM__LAUNCH_PLACEMENT_H

#include "launch/builder.h"

typedef struct kmm__placement {
    kmm__device_t *device[KMM__MAX_DEVICES];
    uint32_t count;
    uint32_t dealt[KMM__MAX_DEVICES]; /* number of chunks assigned to each device */
    uint32_t chunks;                  /* number of chunks of the launch */
    kmm_schedule_t schedule;
} kmm__placement_t;

/* Finds the devices that a launch may use. `kind` is what the kernel was built for; plain
 * functions run on the CPU. KMM_E_NO_DEVICE, with the text set: no device can run the launch. */
int kmm__place_devices(const kmm_launch_t *l, kmm_kind_t kind, bool is_function,
                       kmm__placement_t *out);
/* Leaves `count` devices, those that have most of the data that the launch writes, but not fewer
 * than have some of it. The items have their arrays. The caller holds the lock. */
void kmm__place_narrow(kmm__placement_t *p, const kmm_launch_t *l, uint32_t count);
/* Leaves only the device that is current. False: it is not among them. */
bool kmm__place_on_current(kmm__placement_t *p);
/* The runtime's only GPU, if that is of the kind, current and not lost; else NULL. */
const kmm__device_t *kmm__place_only_gpu(const kmm_runtime_t *rt, kmm_kind_t kind);
/* Chooses the device for chunk k. The accesses of chunk k are those of t. The caller holds the
 * lock. */
kmm__device_t *kmm__place_chunk(kmm__placement_t *p, uint32_t k, const kmm__task_t *t);

/* The CPU device that this thread has chosen among several; -1: none. Launches without a pragma
 * run there. */
int kmm__device_chosen(const kmm_runtime_t *rt);
void kmm__device_choose(const kmm_runtime_t *rt, int device);

#endif
