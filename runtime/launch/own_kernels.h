/* SPDX-License-Identifier: Apache-2.0 */
/* libkmm's own kernels (device_code.h), loaded for a device when they are first needed. */
#ifndef KMM__LAUNCH_OWN_KERNELS_H
#define KMM__LAUNCH_OWN_KERNELS_H

#include "launch/device_code.h"
#include "launch/operation.h"

/* Returns a kernel for elements like `e`; NULL: there is none for the device. */
const kmm_kernel_t *kmm__own_kernel(const kmm__device_t *d, const kmm__element_t *e,
                                    kmm__device_kernel_t kernel);
/* True if the device has kernels that fill and fold the partials of the reduction. */
bool kmm__own_kernels_fold(const kmm__device_t *d, const kmm__partials_t *p,
                           const kmm__reduction_t *r);
/* Returns what these kernels get. The first partial lies at `at`, and the target at its name. */
kmm__folding_t kmm__folding_of(const kmm__partials_t *p, const kmm__reduction_t *r, kmm__addr_t at);

/* Locked. Submits a task that runs the kernel on a device, for a reduction of a launch whose
 * partials lie in an array of their own. The accesses, two at most, are copied. */
int kmm__own_kernel_submit(kmm__device_t *d, kmm__device_kernel_t kernel, const kmm__work_t *launch,
                           const kmm__reduction_t *r, const kmm__access_t *accesses,
                           uint32_t count);

/* A program that writes `r = r && x` gets 0 or 1, and one that writes `if (!x) r = 0` may keep any
 * other value. So that a chunk gives what the program gives, its partial begins with the target's
 * value, whose truth changes nothing in && and || (see kmm__fold_truth). */
static inline bool kmm__reduction_is_truth(const kmm__reduction_t *r)
{
    return r->op == KMM_OP_LAND || r->op == KMM_OP_LOR;
}

/* Locked, unlocks meanwhile: brings all arrays whole to the runtime's first device, one after the
 * other. Returns 0, or an error, also where work that has failed was to write one of them. */
int kmm__own_kernel_gather(kmm_runtime_t *rt);

#endif
