/* SPDX-License-Identifier: Apache-2.0 */
/* Coherence: which spaces hold the newest value of which elements of an array. The map of an array
 * changes when work is issued, before devices do it. All functions are called with the runtime's
 * lock. */
#ifndef KMM__MEMORY_COHERENCE_H
#define KMM__MEMORY_COHERENCE_H

#include "memory/array.h"
#include "memory/transfer.h"

/* Marks the tickets of t's copies done and drops them. t is done. */
void kmm__coherence_release(kmm__task_t *t);

/* Plans the copies that t needs to find the newest values of its accesses in its space. Pins the
 * frames they are copied from. Records in the map what t will have written. Returns 0 or an error
 * with its text. */
int kmm__coherence_acquire(kmm__task_t *t, kmm__moves_t *moves);
/* Plans the copies to the host of values that only frame f holds, and removes its device from the
 * holders. */
void kmm__coherence_evict(kmm__device_t *d, kmm__frame_t *f, kmm__moves_t *moves);
/* Undoes that in the map, after these copies could not be enqueued: f's device holds again what was
 * to be copied with ticket `evicted`. */
void kmm__coherence_restore(kmm__device_t *d, kmm__frame_t *f, const kmm__ticket_t *evicted);

/* True if an array's map and its summary agree. Visits the whole map. */
bool kmm__coherence_is_valid(const kmm__array_t *a);

#endif
