/* SPDX-License-Identifier: Apache-2.0 */
/* Segments: a segment is one allocation from upstream. The caller holds the pool's lock. */
#ifndef KMM__RESOURCE_SEGMENT_H
#define KMM__RESOURCE_SEGMENT_H

#include "resource/pool_state.h"

/* Adds memory as a segment of one free block. KMM_E_MEMORY: the host has no memory for
 * descriptors. */
int kmm__segment_add(kmm__pool_t *p, void *memory, size_t bytes, kmm__pool_stream_t *owner);
/* Removes a segment that is entirely free from the pool's list, and its blocks from their
 * shelves. */
void kmm__segment_detach(kmm__pool_t *p, kmm__segment_t *segment);
/* Undoes a detach. */
void kmm__segment_attach(kmm__pool_t *p, kmm__segment_t *segment);
void kmm__segment_free(kmm__segment_t *segment);
void kmm__segments_deinit(kmm__pool_t *p);

#endif
