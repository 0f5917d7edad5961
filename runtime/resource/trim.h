/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM__RESOURCE_TRIM_H
#define KMM__RESOURCE_TRIM_H

#include "resource/pool_state.h"

/* Gives memory that nobody uses back upstream until at most `keep` bytes are held, and waits for
 * the work that still uses it. Without the pool's lock. */
int kmm__pool_trim(kmm_resource_t *r, size_t keep);

#endif
