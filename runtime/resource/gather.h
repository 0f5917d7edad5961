/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering: free frames that are scattered over a pool are mapped side by side at a new
 * address. Does nothing if the pool's memory cannot be mapped elsewhere. */
#ifndef KMM__RESOURCE_GATHER_H
#define KMM__RESOURCE_GATHER_H

#include "resource/pool_state.h"

typedef enum kmm__gather {
    KMM__GATHER_READY,  /* frames that no work uses, if they are half of what is needed */
    KMM__GATHER_WAIT,   /* also frames that other streams may use, for which the request's stream
                           waits, if all are half of what is needed */
    KMM__GATHER_PENDING /* the same, however few there are */
} kmm__gather_t;

typedef enum kmm__forget {
    KMM__FORGET_PASSED, /* blocks that no work uses any more */
    KMM__FORGET_ALL     /* all blocks, after waiting for their work */
} kmm__forget_t;

/* True if frames can be gathered, and the pool is so large that a stream is to wait for frames of
 * others before it takes more memory. The caller holds the pool's lock. */
bool kmm__pool_is_full(const kmm__pool_t *p, const kmm__request_t *q);
/* True if so many free frames lie within the extent that gathering should serve the request. The
 * caller holds the pool's lock. */
bool kmm__pool_is_worth_gathering(const kmm__pool_t *p, const kmm__request_t *q);
/* Returns a live block of gathered frames; NULL: there are too few, or mapping them failed. The
 * caller does not hold the pool's lock. */
kmm__block_t *kmm__pool_gather(kmm__pool_t *p, const kmm__request_t *q, kmm__gather_t from);

/* ---- The caller holds the pool's lock, which is released meanwhile ---- */

/* Unmaps left blocks (pool_state.h). */
int kmm__pool_forget(kmm__pool_t *p, kmm__forget_t which);
/* Returns frames upstream until the pool holds at most `keep` bytes. Waits for work that still
 * uses them. */
int kmm__pool_shrink(kmm__pool_t *p, size_t keep);

#endif
