/* SPDX-License-Identifier: Apache-2.0 */
/* Copying and filling, ordered on a stream, where one side is memory of a resource. */
#ifndef KMM__RESOURCE_COPY_H
#define KMM__RESOURCE_COPY_H

#include "resource/resource.h"

/* The other side may be any memory. Host memory that is not pinned may be changed when it returns.
 */
int kmm__copy(const kmm_resource_t *r, void *dst, const void *src, size_t bytes,
              kmm_stream_t stream);
int kmm__fill(const kmm_resource_t *r, void *dst, int value, size_t bytes, kmm_stream_t stream);
/* Waits for the stream. */
int kmm__settle(const kmm_resource_t *r, kmm_stream_t stream);

#endif
