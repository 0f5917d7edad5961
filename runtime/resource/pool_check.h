/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of a pool's structures. Debug builds check the counts whenever the pool's lock is
 * dropped after a change. Every KMM__POOL_CHECK_EVERY-th time they walk all structures instead.
 */
#ifndef KMM__RESOURCE_POOL_CHECK_H
#define KMM__RESOURCE_POOL_CHECK_H

#include <assert.h>

#include "resource/pool_state.h"

enum { KMM__POOL_CHECK_EVERY = 4096 };

/* The caller holds the pool's lock; other threads may use the pool. */
bool kmm__pool_counts_are_valid(kmm__pool_t *p); /* constant time */
bool kmm__pool_is_consistent(kmm__pool_t *p);    /* walks segments, blocks, shelves and caches */
/* Calls kmm__pool_is_consistent every KMM__POOL_CHECK_EVERY calls, else
 * kmm__pool_counts_are_valid. */
bool kmm__pool_check(kmm__pool_t *p);
/* For tests: requires that no other thread uses the pool and no operation is pending. */
bool kmm__pool_is_valid(kmm_resource_t *pool);

/* Drops the pool's lock after a change. */
static inline void kmm__pool_unlock(kmm__pool_t *p)
{
    assert(kmm__pool_check(p));
    kmm__lock_drop(&p->lock);
}

#endif
