/* SPDX-License-Identifier: Apache-2.0 */
/* Finds memory for a request within what the pool already has. The caller holds the pool's lock. */
#ifndef KMM__RESOURCE_FIT_H
#define KMM__RESOURCE_FIT_H

#include "resource/pool_state.h"

/* Each function returns a live block; NULL: there is none. */

/* Memory that is ready now. Before the extent grows, caches are emptied and epochs are polled.
 * Also returns NULL if gathering frames is the better choice. */
kmm__block_t *kmm__take_ready(kmm__pool_t *p, const kmm__request_t *q);
/* Memory that is ready now, regardless of gathering. Leaves the caches alone. */
kmm__block_t *kmm__take_any(kmm__pool_t *p, const kmm__request_t *q);
/* Memory that other streams may still use. The request's stream is made to wait for them. */
kmm__block_t *kmm__take_pending(kmm__pool_t *p, const kmm__request_t *q);

#endif
