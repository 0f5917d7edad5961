/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of host memory, and their end. */
#ifndef KMM__LAUNCH_MAPS_H
#define KMM__LAUNCH_MAPS_H

#include "memory/array.h"

/* Locked, may unlock: kmm_map. */
int kmm__map(kmm_runtime_t *rt, kmm_map_t map, void *base, size_t bytes);

/* Not locked: ends the maps that begin at the bases, and returns when that memory is the program's
 * again. */
int kmm__maps_end(kmm_runtime_t *rt, void *const *bases, uint32_t count);

/* Locked, unlocks: waits until no map that is ending has any of the memory. A thread inside of a
 * task or function does not wait, since it may be what is waited for. */
void kmm__maps_await(kmm_runtime_t *rt, const void *base, size_t bytes);

/* Locked, unlocks: writes back what launches with nowait left mapped in [begin, end). Returns the
 * first error, which is also among those that kmm_wait returns. */
int kmm__deferred_end(kmm_runtime_t *rt, uintptr_t begin, uintptr_t end);

#endif
