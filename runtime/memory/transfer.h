/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that a task or an eviction needs: planned under the lock, enqueued outside of it. */
#ifndef KMM__MEMORY_TRANSFER_H
#define KMM__MEMORY_TRANSFER_H

#include "memory/array.h"

typedef struct kmm__move {
    kmm__array_t *array;
    kmm__device_t *from, *to; /* NULL: the host */
    kmm__layout_t layout;
    kmm__box_t box;
    kmm__ticket_t *after;  /* what makes the source valid; a reference; NULL: it is */
    kmm__ticket_t *ticket; /* what this makes; a reference */
} kmm__move_t;

typedef struct kmm__moves {
    kmm__move_t *move;
    uint32_t count, capacity;
} kmm__moves_t;

/* Not locked: enqueues the planned copies to the host, or those to devices, each behind what makes
 * its source valid. Those to the host come first, because others may wait for them. Carries on
 * after an error, so that every ticket is recorded; returns the first. */
int kmm__moves_enqueue(kmm__moves_t *moves, bool to_host);
/* Locked: plans a copy of a box in a's coherence layout. */
void kmm__moves_push(kmm__moves_t *moves, kmm__array_t *a, const kmm__box_t *box,
                     kmm__device_t *from, kmm__device_t *to, kmm__ticket_t *after,
                     kmm__ticket_t *ticket);
void kmm__moves_drop(kmm__moves_t *moves); /* locked */

#endif
