/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for a pool from upstream. Without the pool's lock. */
#ifndef KMM__RESOURCE_GROWTH_H
#define KMM__RESOURCE_GROWTH_H

#include "resource/pool_state.h"

/* Takes `bytes` from upstream, which `held` counts already. */
int kmm__pool_grow_by(kmm__pool_t *p, size_t bytes, kmm__pool_stream_t *stream,
                      kmm_stream_t handle);
/* Takes at least `least` bytes; when there is not as much as one would like, just those.
 * KMM_E_MEMORY: there is not, or the pool's maximum forbids it. */
int kmm__pool_grow(kmm__pool_t *p, size_t least, kmm__pool_stream_t *stream, kmm_stream_t handle);

#endif
