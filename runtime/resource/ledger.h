/* SPDX-License-Identifier: Apache-2.0 */
/* What an adaptor has got from upstream and not given back, with its bytes: so that it frees and
 * counts nothing but its own. */
#ifndef KMM__RESOURCE_LEDGER_H
#define KMM__RESOURCE_LEDGER_H

#include "resource/adaptor.h"
#include "resource/table.h"

/* The first member of an adaptor that has one; zeros after the head are an empty ledger. Each r
 * below is such an adaptor. */
typedef struct kmm__ledger {
    kmm_resource_t head;
    kmm__table_t sizes; /* address -> bytes */
} kmm__ledger_t;

/* Allocates upstream and notes it. KMM_E_MEMORY: upstream has none, or it cannot be noted, and so
 * has been given back; *out is NULL. */
int kmm__ledger_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                         void **out);
/* Strikes out what is about to be freed, of `bytes` or KMM_SIZE_RECORDED, or fails; *size is its
 * size. Of many threads one succeeds. */
int kmm__ledger_take(kmm_resource_t *r, const void *p, size_t bytes, size_t *size);
/* Takes it, and frees it upstream; what upstream refuses stays noted. *size is its size, if it
 * returns 0. */
int kmm__ledger_give_back(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream,
                          size_t *size);
/* Puts back what has been taken, and could not be freed. */
void kmm__ledger_return(kmm_resource_t *r, const void *p, size_t size);
int kmm__ledger_size(kmm_resource_t *r, const void *p, size_t *size);
/* Frees the adaptor. KMM_E_STATE when something is left, which stays upstream's. */
int kmm__ledger_destroy(kmm_resource_t *r);

#endif
