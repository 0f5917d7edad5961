/* SPDX-License-Identifier: Apache-2.0 */
/* Values of coherence maps: which spaces hold the newest value. */
#ifndef KMM__MEMORY_HOLDERS_H
#define KMM__MEMORY_HOLDERS_H

#include "memory/array.h"

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
/* The space is a holder once the ticket is done (NULL: now). */
void kmm__holders_set(kmm__holders_t *h, uint32_t space, kmm__ticket_t *ticket);
void kmm__holders_clear(kmm__holders_t *h, uint32_t space); /* it is none */

#endif
