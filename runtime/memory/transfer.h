/* SPDX-License-Identifier: Apache-2.0 */
/* Moves: copies that a task or an eviction needs. They are planned under the lock and enqueued
 * outside of it. */
#ifndef KMM__MEMORY_TRANSFER_H
#define KMM__MEMORY_TRANSFER_H

#include "memory/array.h"

/* A planned copy of a box from one space to another. */
typedef struct kmm__move {
    kmm__array_t *array;
    kmm__device_t *from, *to; /* NULL: the host */
    kmm__layout_t layout;
    kmm__box_t box;
    /* ticket after which the source is valid; a reference; NULL: it is valid now */
    kmm__ticket_t *after;
    kmm__ticket_t *ticket; /* ticket of the copy; a reference */
} kmm__move_t;

typedef struct kmm__moves {
    kmm__move_t *move;
    uint32_t count, capacity;
    uint64_t task; /* kmm__task_number of the task that needs them; 0: none */
} kmm__moves_t;

/* Not locked: enqueues the copies to the host, or those to devices, each after the ticket that
 * makes its source valid. Copies to the host are enqueued first, because others may wait for them.
 * Goes on after an error, so that every ticket is recorded. Returns 0 or the first error. */
int kmm__moves_enqueue(kmm__moves_t *moves, bool to_host);
/* Locked: adds a copy of a box in a's coherence layout. */
void kmm__moves_push(kmm__moves_t *moves, kmm__array_t *a, const kmm__box_t *box,
                     kmm__device_t *from, kmm__device_t *to, kmm__ticket_t *after,
                     kmm__ticket_t *ticket);
void kmm__moves_drop(kmm__moves_t *moves); /* locked: drops all copies and their references */

#endif
