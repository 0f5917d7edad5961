/* SPDX-License-Identifier: Apache-2.0 */
/* Segments: memory that was got from upstream at once. With the pool's lock held. */
#ifndef KMM__RESOURCE_SEGMENT_H
#define KMM__RESOURCE_SEGMENT_H

#include "resource/pool_state.h"

/* Adds memory as one free block. KMM_E_MEMORY: the host has none for descriptors. */
int kmm__segment_add(kmm__pool_t *p, void *memory, size_t bytes, kmm__pool_stream_t *owner);
/* Takes all blocks of a segment that is entirely free off their shelves; the segment is no longer
 * listed. */
void kmm__segment_detach(kmm__pool_t *p, kmm__segment_t *segment);
/* Undoes a detach. */
void kmm__segment_attach(kmm__pool_t *p, kmm__segment_t *segment);
void kmm__segment_free(kmm__segment_t *segment);
void kmm__segments_deinit(kmm__pool_t *p);

#endif
