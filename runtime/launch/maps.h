/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends maps of host memory. */
#ifndef KMM__LAUNCH_MAPS_H
#define KMM__LAUNCH_MAPS_H

#include "memory/array.h"

/* Implements kmm_map. The caller holds the lock, which may be released meanwhile. */
int kmm__map(kmm_runtime_t *rt, kmm_map_t map, void *base, size_t bytes);

/* Ends the maps that begin at the bases. Returns when the program may use that memory again. The
 * caller does not hold the lock. */
int kmm__maps_end(kmm_runtime_t *rt, void *const *bases, uint32_t count);

/* Waits until no map that is ending contains part of the memory. The lock is held and is
 * released meanwhile. A thread inside a task or function does not wait, since the map's end may
 * wait for it. */
void kmm__maps_await(kmm_runtime_t *rt, const void *base, size_t bytes);

/* Writes back what launches with nowait left mapped in [begin, end). The lock is held and is
 * released meanwhile. Returns the first error, which kmm_wait also reports. */
int kmm__deferred_end(kmm_runtime_t *rt, uintptr_t begin, uintptr_t end);

#endif
