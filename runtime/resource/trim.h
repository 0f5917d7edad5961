/* SPDX-License-Identifier: Apache-2.0 */
/* Gives memory of a pool back upstream. */
#ifndef KMM__RESOURCE_TRIM_H
#define KMM__RESOURCE_TRIM_H

#include "resource/pool_state.h"

/* Returns unused memory upstream until the pool holds at most `keep` bytes. Waits for work that
 * still uses it. The caller does not hold the pool's lock. */
int kmm__pool_trim(kmm_resource_t *r, size_t keep);

#endif
