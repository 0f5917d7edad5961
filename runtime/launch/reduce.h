/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: their partials (private copies of the targets), and the tasks that fill and fold
 * them. The caller holds the lock. */
#ifndef KMM__LAUNCH_REDUCE_H
#define KMM__LAUNCH_REDUCE_H

#include "launch/operation.h"
#include "launch/partition.h"

/* Finds the reductions of the launch and creates their partials. On error *item receives
 * the item at fault, or item_count if none is. The error's text does not name the launch. */
int kmm__reduce_plan(kmm__work_t *w, const kmm_launch_t *l, const kmm__partition_t *p,
                     uint32_t *item);
/* The same in native standing, where partials lie in scratch memory: it creates no arrays.
 * `redirect` true: it also finds which pointer arguments lead to partials. False: an equal launch's
 * memo has told them. */
int kmm__reduce_plan_natively(kmm__work_t *w, const kmm_launch_t *l, const kmm__partition_t *p,
                              bool redirect, uint32_t *item);
/* Submits the tasks that write identities into the partials. `only` is the device that runs all
 * chunks; NULL: there are several. */
int kmm__reduce_begin(kmm_runtime_t *rt, const kmm__work_t *w, kmm__device_t *only);
/* Submits the tasks that fold the partials and accumulate them into the targets. */
int kmm__reduce_end(kmm_runtime_t *rt, const kmm__work_t *w, kmm__device_t *only);
/* Copies what the launch has reduced through r, in the partials [range[0], range[1]), from memory
 * (is_in) or to memory, one after the other. Waits for that. */
int kmm__reduce_move(const kmm__work_t *w, const kmm__reduction_t *r, const uint32_t range[2],
                     void *memory, bool is_in);
/* Hands the accesses of each task of kmm__reduce_begin and kmm__reduce_end to `fn`, and submits
 * none. */
typedef void kmm__accesses_fn_t(void *ctx, const kmm__access_t *accesses, uint32_t count);
void kmm__reduce_accesses(const kmm__work_t *w, kmm__accesses_fn_t *fn, void *ctx);
/* Returns the access of chunk k to reduction r: to its partial, or to the target itself. */
kmm__access_t kmm__reduce_access(const kmm__work_t *w, const kmm__reduction_t *r, uint32_t k);
/* True if the result depends on the order of combination. Then chunks must depend on the launch
 * alone. */
bool kmm__reduce_is_ordered(const kmm_launch_t *l);

#endif
