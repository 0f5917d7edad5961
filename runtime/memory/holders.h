/* SPDX-License-Identifier: Apache-2.0 */
/* Holders: the values of coherence maps. */
#ifndef KMM__MEMORY_HOLDERS_H
#define KMM__MEMORY_HOLDERS_H

#include "memory/array.h"

/* The spaces that hold the newest value of some elements. If bit s of `valid` is set, space s holds
 * it once ticket ready[s] is done; NULL: it holds it now. Space s does not hold it if ready[s] has
 * an error, or if its device is lost. valid 0: the elements were never written. */
typedef struct kmm__holders {
    uint32_t valid;
    /* values in maps have only the first space_count members */
    kmm__ticket_t *ready[KMM__MAX_SPACES];
} kmm__holders_t;

void kmm__holders_ops_init(kmm_runtime_t *rt); /* called once space_count is known */
/* Returns the operations of coherence maps. */
const kmm__map_ops_t *kmm__holders_ops(kmm_runtime_t *rt);
/* Returns the spaces that hold the newest value, or will: `valid` without those whose copy has
 * failed or whose device is lost. */
uint32_t kmm__holders_valid(const kmm_runtime_t *rt, const kmm__holders_t *h);
/* Makes the space a holder from when the ticket is done on; NULL: from now on. */
void kmm__holders_set(kmm__holders_t *h, uint32_t space, kmm__ticket_t *ticket);
void kmm__holders_clear(kmm__holders_t *h, uint32_t space); /* removes the space from the holders */

#endif
