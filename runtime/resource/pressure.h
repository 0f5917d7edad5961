/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pressure: when memory runs out, resources that hold unused memory give it back. */
#ifndef KMM__RESOURCE_PRESSURE_H
#define KMM__RESOURCE_PRESSURE_H

#include "resource/resource.h"

/* Embedded in each resource that keeps freed memory for later requests. */
typedef struct kmm__holder {
    struct kmm__holder *next;
    kmm_resource_t *resource;
    int pins; /* threads that trim the resource now; it is not freed meanwhile */
} kmm__holder_t;

void kmm__holder_add(kmm__holder_t *h, kmm_resource_t *r);
/* Waits for threads that are trimming the resource. */
void kmm__holder_remove(kmm__holder_t *h);
/* True if p is the start of memory that a holder built on r has allocated from r, so that p is
 * not an allocation of the program. Memory that the holder has given back does not count. */
bool kmm__is_held(const kmm_resource_t *r, const void *p);
/* The holders that are trimmed. */
typedef enum kmm__pressed {
    KMM__PRESS_ABOVE, /* holders built on the resource: it has reached its own limit */
    KMM__PRESS_ALL    /* all holders of this kind of memory and device: upstream has run out */
} kmm__pressed_t;
/* Trims other holders after memory has run out. The caller holds no resource's lock. */
void kmm__pressure(const kmm_resource_t *r, kmm__pressed_t whom);

#endif
