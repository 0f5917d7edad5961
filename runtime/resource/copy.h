/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills ordered on a stream. One side of a copy is memory of a resource. */
#ifndef KMM__RESOURCE_COPY_H
#define KMM__RESOURCE_COPY_H

#include "resource/resource.h"

/* The other side of a copy may be any memory. When the call returns, host memory that is not
 * pinned may be changed again. */
int kmm__copy(const kmm_resource_t *r, void *dst, const void *src, size_t bytes,
              kmm_stream_t stream);
int kmm__fill(const kmm_resource_t *r, void *dst, int value, size_t bytes, kmm_stream_t stream);
/* Waits for the stream. */
int kmm__settle(const kmm_resource_t *r, kmm_stream_t stream);

#endif
