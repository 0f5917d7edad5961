/* SPDX-License-Identifier: Apache-2.0 */
/* What an adaptor has got from upstream and not given back, with its bytes: so that it frees and
 * counts nothing but its own. */
#ifndef KMM__RESOURCE_LEDGER_H
#define KMM__RESOURCE_LEDGER_H

#include "resource/resource.h"
#include "resource/table.h"

typedef struct kmm__ledger {
    kmm__table_t sizes;
} kmm__ledger_t;

/* Zeros for a resource that has a ledger in it, which they are an empty one of; freed with free.
 * NULL: no host memory. */
void *kmm__ledger_home(size_t bytes);
void kmm__ledger_deinit(kmm__ledger_t *l);

/* Notes what upstream has just given r. KMM_E_MEMORY: that cannot be noted, so it has been given
 * back, and *p is NULL. */
int kmm__ledger_add(kmm__ledger_t *l, kmm_resource_t *r, size_t bytes, kmm_stream_t stream,
                    void **p);
/* Strikes out what is about to be freed, of `bytes` or KMM_SIZE_RECORDED, or fails; *size is its
 * size. Of many threads one succeeds. */
int kmm__ledger_take(kmm__ledger_t *l, const kmm_resource_t *r, const void *p, size_t bytes,
                     size_t *size);
/* Takes it, and frees it upstream; what upstream refuses stays noted. *size is its size, if it
 * returns 0. */
int kmm__ledger_give_back(kmm__ledger_t *l, kmm_resource_t *r, void *p, size_t bytes,
                          kmm_stream_t stream, size_t *size);
/* Puts back what has been taken, and could not be freed. */
void kmm__ledger_return(kmm__ledger_t *l, const void *p, size_t size);
int kmm__ledger_size(kmm__ledger_t *l, const kmm_resource_t *r, const void *p, size_t *size);
/* KMM_E_STATE when something is left: for the end of r. It stays upstream's. */
int kmm__ledger_check_empty(kmm__ledger_t *l, const kmm_resource_t *r);

#endif
