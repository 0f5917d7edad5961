/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of a pool's structures. In Debug builds the counts are checked whenever the pool's
 * lock is dropped after a change, and everything is walked every KMM__POOL_CHECK_EVERY times.
 */
#ifndef KMM__RESOURCE_POOL_CHECK_H
#define KMM__RESOURCE_POOL_CHECK_H

#include <assert.h>

#include "resource/pool_state.h"

enum { KMM__POOL_CHECK_EVERY = 4096 };

/* With the pool's lock held, while any thread uses the pool. */
bool kmm__pool_counts_are_valid(kmm__pool_t *p); /* constant time */
bool kmm__pool_is_consistent(kmm__pool_t *p);    /* walks segments, blocks, shelves and caches */
/* Either: the second one every KMM__POOL_CHECK_EVERY calls. */
bool kmm__pool_check(kmm__pool_t *p);
/* For tests: no other thread uses the pool, and nothing is under way. */
bool kmm__pool_is_valid(kmm_resource_t *pool);

/* Drops the pool's lock after a change. */
static inline void kmm__pool_unlock(kmm__pool_t *p)
{
    assert(kmm__pool_check(p));
    kmm__lock_drop(&p->lock);
}

#endif
