/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for libkmm in tests of the wrappers of managed programs (managed_stand_ins.c). */
#ifndef MANAGED_STAND_INS_H
#define MANAGED_STAND_INS_H

#include <stdbool.h>
#include <stdint.h>

/* The handles of the kernels that kmm_kernels_end was called with: the last 16, and the number of
 * all. */
extern const void *ended[16];
extern uint32_t ended_count;
/* The standing is native. */
extern int is_native;
extern int is_bound;
/* Natively: the devices on which the arrays of a copy are. */
extern int native_to, native_from;
/* The result of the next kmm_cuda_native_sample; what kmm_cuda_native_measured got last. */
extern int native_sample;
extern uint64_t measured_ns;
/* What kmm_cuda_native_at_end was called with last. */
extern void (*at_end)(void);
/* The next launch has a pragma that comes again, or not; what kmm_cuda_launch_again returns, and
 * got last; and how often such launches began and ended. */
typedef struct again {
    bool is_armed;
    int device, begins, ends;
    const void *handle;
    void **args;
    unsigned grid_x, first;
} again_t;
extern again_t again;
/* The result of kmm_task_active. */
extern int in_task;

#endif
