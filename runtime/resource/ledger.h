/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger: the allocations that an adaptor has got from upstream and not given back, with their
 * sizes. Through it the adaptor frees and counts only its own allocations. */
#ifndef KMM__RESOURCE_LEDGER_H
#define KMM__RESOURCE_LEDGER_H

#include "resource/resource.h"
#include "resource/table.h"

typedef struct kmm__ledger {
    kmm__table_t sizes;
} kmm__ledger_t;

/* Returns `bytes` of zeros for a resource that contains a ledger. A zeroed ledger is empty.
 * Freed with free; NULL: no host memory. */
void *kmm__ledger_home(size_t bytes);
void kmm__ledger_deinit(kmm__ledger_t *l);

/* Records *p, which upstream has just allocated for r. KMM_E_MEMORY: there is no memory for the
 * record; *p was given back and is NULL. */
int kmm__ledger_add(kmm__ledger_t *l, kmm_resource_t *r, size_t bytes, kmm_stream_t stream,
                    void **p);
/* Removes the record of p before p is freed, and sets *size. `bytes` is p's size or
 * KMM_SIZE_RECORDED; another size is an error. If several threads take p, one succeeds. */
int kmm__ledger_take(kmm__ledger_t *l, const kmm_resource_t *r, const void *p, size_t bytes,
                     size_t *size);
/* Removes the record of p and frees p upstream. If upstream refuses, the record stays. On
 * success *size is set. */
int kmm__ledger_give_back(kmm__ledger_t *l, kmm_resource_t *r, void *p, size_t bytes,
                          kmm_stream_t stream, size_t *size);
/* Restores a record that was taken if p could not be freed. */
void kmm__ledger_return(kmm__ledger_t *l, const void *p, size_t size);
int kmm__ledger_size(kmm__ledger_t *l, const kmm_resource_t *r, const void *p, size_t *size);
/* For the end of r: KMM_E_STATE if an allocation is left. Upstream keeps that memory. */
int kmm__ledger_check_empty(kmm__ledger_t *l, const kmm_resource_t *r);

#endif
