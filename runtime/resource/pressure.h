/* SPDX-License-Identifier: Apache-2.0 */
/* When memory has run out, whoever holds some of it that nobody uses gives it back. */
#ifndef KMM__RESOURCE_PRESSURE_H
#define KMM__RESOURCE_PRESSURE_H

#include "resource/resource.h"

/* Part of each resource that holds memory back. */
typedef struct kmm__holder {
    struct kmm__holder *next;
    kmm_resource_t *resource;
    int pins; /* threads that trim it at the moment; it is not freed meanwhile */
} kmm__holder_t;

void kmm__holder_add(kmm__holder_t *h, kmm_resource_t *r);
/* Waits for the threads that trim it. */
void kmm__holder_remove(kmm__holder_t *h);
/* Whether a holder that stands on r has memory from p on, so that p is no allocation of the
 * program's own. What a holder gives back is its own no more. */
bool kmm__is_held(const kmm_resource_t *r, const void *p);
/* Whom it helps when they give memory back. */
typedef enum kmm__pressed {
    KMM__PRESS_ABOVE, /* those that stand on the resource: it has all that it may have */
    KMM__PRESS_ALL    /* all of this kind and device: it takes more from upstream */
} kmm__pressed_t;
/* Memory has run out: trims other holders of it. Called with no resource's lock held. */
void kmm__pressure(const kmm_resource_t *r, kmm__pressed_t whom);

#endif
