/* SPDX-License-Identifier: Apache-2.0 */
/* Gets memory for a pool from upstream. The caller does not hold the pool's lock. */
#ifndef KMM__RESOURCE_GROWTH_H
#define KMM__RESOURCE_GROWTH_H

#include "resource/pool_state.h"

/* Takes `bytes` from upstream. `held` already counts them. */
int kmm__pool_grow_by(kmm__pool_t *p, size_t bytes, kmm__pool_stream_t *stream,
                      kmm_stream_t handle);
/* Takes memory from upstream: the preferred amount, or `least` bytes if there is no more.
 * KMM_E_MEMORY: upstream has not even that, or the pool's maximum forbids it. */
int kmm__pool_grow(kmm__pool_t *p, size_t least, kmm__pool_stream_t *stream, kmm_stream_t handle);

#endif
