/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for a request that the pool has already. With the pool's lock held. */
#ifndef KMM__RESOURCE_FIT_H
#define KMM__RESOURCE_FIT_H

#include "resource/pool_state.h"

/* All return a live block; NULL: there is none. */

/* Memory that needs no waiting: caches are emptied and epochs looked at before the extent grows.
 * NULL too where frames should be gathered instead. */
kmm__block_t *kmm__take_ready(kmm__pool_t *p, const kmm__request_t *q);
/* The same, whatever could be gathered, and without emptying caches. */
kmm__block_t *kmm__take_any(kmm__pool_t *p, const kmm__request_t *q);
/* Memory that other streams may still use: the request's stream waits for them. */
kmm__block_t *kmm__take_pending(kmm__pool_t *p, const kmm__request_t *q);

#endif
