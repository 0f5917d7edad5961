/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a pool, as a resource. */
#ifndef KMM__RESOURCE_POOL_H
#define KMM__RESOURCE_POOL_H

#include "resource/pool_state.h"

/* The pool's part in memory pressure. Pools of a process make each other give memory back. A pool
 * that is ALONE takes no part in that. A pool that is KEEPING takes no part either, and gives
 * nothing back before it is destroyed. */
typedef enum kmm__pool_relation {
    KMM__POOL_AMONG_OTHERS,
    KMM__POOL_ALONE,
    KMM__POOL_KEEPING
} kmm__pool_relation_t;
int kmm__pool_create(kmm_resource_t *upstream, const kmm_pool_options_t *options,
                     kmm__pool_relation_t relation, kmm_resource_t **out);

#endif
