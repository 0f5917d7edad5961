/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a pool on memory that can be mapped elsewhere; on other memory nothing is done. */
#ifndef KMM__RESOURCE_GATHER_H
#define KMM__RESOURCE_GATHER_H

#include "resource/pool_state.h"

typedef enum kmm__gather {
    KMM__GATHER_READY,  /* memory that needs no waiting */
    KMM__GATHER_PENDING /* and that of other streams, which the request's then waits for */
} kmm__gather_t;

typedef enum kmm__forget {
    KMM__FORGET_PASSED, /* what no work uses any more */
    KMM__FORGET_ALL     /* waits for the work */
} kmm__forget_t;

/* Whether enough free frames lie within the extent that the request should have them. With the
 * pool's lock held. */
bool kmm__pool_is_worth_gathering(const kmm__pool_t *p, const kmm__request_t *q);
/* A live block of gathered frames; NULL: there are too few, or they could not be mapped. Without
 * the lock. */
kmm__block_t *kmm__pool_gather(kmm__pool_t *p, const kmm__request_t *q, kmm__gather_t from);

/* With the pool's lock held, which is released meanwhile: */

/* Unmaps left blocks. */
int kmm__pool_forget(kmm__pool_t *p, kmm__forget_t which);
/* Gives frames back upstream until at most `keep` bytes are held, and waits for the work that still
 * uses them. */
int kmm__pool_shrink(kmm__pool_t *p, size_t keep);

#endif
