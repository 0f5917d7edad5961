/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: their private copies and what fills and folds them. Called with the lock. */
#ifndef KMM__LAUNCH_REDUCE_H
#define KMM__LAUNCH_REDUCE_H

#include "launch/operation.h"
#include "launch/partition.h"

/* Finds what the launch reduces into and makes its private copies. *item receives the one at fault,
 * or item_count. Errors have their text set, without the launch. */
int kmm__reduce_plan(kmm__work_t *w, const kmm_launch_t *l, const kmm__partition_t *p,
                     uint32_t *item);
/* Submits what writes identities into the copies. */
int kmm__reduce_begin(kmm_runtime_t *rt, const kmm__work_t *w);
/* Submits what folds them and accumulates them into the targets. */
int kmm__reduce_end(kmm_runtime_t *rt, const kmm__work_t *w);
/* The access of chunk k to reduction r: to its slot, or to the target. */
kmm__access_t kmm__reduce_access(const kmm__work_t *w, const kmm__reduction_t *r, uint32_t k);
/* Whether the order in which elements are combined shows in the result, so that chunks must depend
 * on the launch alone. */
bool kmm__reduce_is_ordered(const kmm_launch_t *l);

#endif
