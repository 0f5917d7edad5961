/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coherence: which spaces hold the newest value of which elements of an array. The map changes when
 * work is issued, before devices do it. All functions are called with the runtime's lock.
 */
#ifndef KMM__MEMORY_COHERENCE_H
#define KMM__MEMORY_COHERENCE_H

#include "memory/array.h"
#include "memory/transfer.h"

/* The copies that were made for t are over: drops their tickets. */
void kmm__coherence_release(kmm__task_t *t);

/* Plans what must be copied so that task t finds the newest values of its accesses in its space,
 * pins the sources, and notes what t will have written. 0 or an error with its text. */
int kmm__coherence_acquire(kmm__task_t *t, kmm__moves_t *moves);
/* Plans the copies out that make frame f's contents expendable, and takes its device off the
 * holders. */
int kmm__coherence_evict(kmm__device_t *d, kmm__frame_t *f, kmm__moves_t *moves);
/* Those copies failed before they were made: the frame holds what it held. */
void kmm__coherence_restore(kmm__device_t *d, kmm__frame_t *f, const kmm__ticket_t *evicted);

/* Whether an array's map and what is known of all of it agree. Walks the map. */
bool kmm__coherence_is_valid(const kmm__array_t *a);

#endif
