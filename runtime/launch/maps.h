/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of host memory, and their end. */
#ifndef KMM__LAUNCH_MAPS_H
#define KMM__LAUNCH_MAPS_H

#include "memory/array.h"

/* Not locked: ends the maps that begin at the bases, and returns when that memory is the program's
 * again. */
int kmm__maps_end(kmm_runtime_t *rt, void *const *bases, uint32_t count);

/* Locked, unlocks: writes back what launches with nowait left mapped in [begin, end). Returns the
 * first error, which is also among those that kmm_wait returns. */
int kmm__deferred_end(kmm_runtime_t *rt, uintptr_t begin, uintptr_t end);

#endif
