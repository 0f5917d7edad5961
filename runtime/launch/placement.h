/* SPDX-License-Identifier: Apache-2.0 */
/* Placement: which devices a launch uses, and which of them each chunk. */
#ifndef KMM__LAUNCH_PLACEMENT_H
#define KMM__LAUNCH_PLACEMENT_H

#include "launch/builder.h"

typedef struct kmm__placement {
    kmm__device_t *device[KMM__MAX_DEVICES];
    uint32_t count;
    uint32_t dealt[KMM__MAX_DEVICES]; /* chunks that each has got */
    uint32_t chunks;                  /* of the launch */
    kmm_schedule_t schedule;
} kmm__placement_t;

/* `kind`: what the kernel was built for; plain functions are for the CPU. KMM_E_NO_DEVICE, with its
 * text set, when the launch can run nowhere. */
int kmm__place_devices(const kmm_launch_t *l, kmm_kind_t kind, bool is_function,
                       kmm__placement_t *out);
/* Locked: the device for chunk k, whose accesses t has. */
kmm__device_t *kmm__place_chunk(kmm__placement_t *p, uint32_t k, const kmm__task_t *t);

/* The device of the CPU's that this thread chose among several of the runtime; -1: none. Launches
 * without a pragma go there. */
int kmm__device_chosen(const kmm_runtime_t *rt);
void kmm__device_choose(const kmm_runtime_t *rt, int device);

#endif
