/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger: the allocations that an adaptor has got from upstream and not given back, with their
 * sizes. Through it the adaptor frees and counts only its own allocations. */
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

/* Allocates upstream and records the allocation. KMM_E_MEMORY: upstream has no memory, or there is
 * none for the record; *out is NULL. */
int kmm__ledger_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                         void **out);
/* Removes the record of p before p is freed, and sets *size. `bytes` is p's size or
 * KMM_SIZE_RECORDED; another size is an error. If several threads take p, one succeeds. */
int kmm__ledger_take(kmm_resource_t *r, const void *p, size_t bytes, size_t *size);
/* Removes the record of p and frees p upstream. If upstream refuses, the record stays. On success
 * *size is set. */
int kmm__ledger_give_back(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream,
                          size_t *size);
/* Restores a record that was taken if p could not be freed. */
void kmm__ledger_return(kmm_resource_t *r, const void *p, size_t size);
int kmm__ledger_size(kmm_resource_t *r, const void *p, size_t *size);
/* Frees the adaptor. KMM_E_STATE if an allocation is left; upstream keeps that memory. */
int kmm__ledger_destroy(kmm_resource_t *r);

#endif
