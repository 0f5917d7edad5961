/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coherence: which spaces hold the newest value of which elements of an array. The map changes when
 * work is issued, so it runs ahead of the devices. All functions are called with the lock.
 */
#ifndef KMM__MEMORY_COHERENCE_H
#define KMM__MEMORY_COHERENCE_H

#include "memory/array.h"
#include "memory/transfer.h"

/* Value of a coherence map. Bit s of valid: space s holds the newest value once ready[s] is done
 * (NULL: it does), unless ready[s] has an error or the space's device is lost. valid == 0: the
 * elements were never written. */
typedef struct kmm__holders {
    uint32_t valid;
    kmm__ticket_t *ready[KMM__MAX_SPACES]; /* maps keep only the first space_count */
} kmm__holders_t;

void kmm__holders_ops_init(kmm_runtime_t *rt); /* once space_count is known */
const kmm__map_ops_t *kmm__holders_ops(kmm_runtime_t *rt);
/* The spaces that hold the newest value, or will. */
uint32_t kmm__holders_valid(const kmm_runtime_t *rt, const kmm__holders_t *h);

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

void kmm__settled_free(kmm__array_t *a);

#endif
