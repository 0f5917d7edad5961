/* SPDX-License-Identifier: Apache-2.0 */
/* The shared parts of adaptors: making one, and functions that only pass a call upstream. An
 * adaptor's struct begins with its head; one that records allocations begins with a ledger. */
#ifndef KMM__RESOURCE_ADAPTOR_H
#define KMM__RESOURCE_ADAPTOR_H

#include "resource/resource.h"

/* Makes an adaptor of `bytes` bytes: its head is filled, the rest is zero, and free() frees it.
 * KMM_E_INVALID: upstream or out is NULL. KMM_E_MEMORY: no host memory. *out is set on success
 * only. */
int kmm__adaptor_create(const kmm__resource_ops_t *ops, const char *noun, size_t bytes,
                        kmm_resource_t *upstream, kmm_resource_t **out);

/* For tables of functions: pass the call to upstream. */
int kmm__pass_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                       void **out);
int kmm__pass_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream);
int kmm__pass_size(kmm_resource_t *r, const void *p, size_t *bytes);
int kmm__pass_usage(kmm_resource_t *r, kmm_resource_usage_t *out);
int kmm__free_destroy(kmm_resource_t *r); /* frees the adaptor and nothing else */

#endif
