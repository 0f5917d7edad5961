/* SPDX-License-Identifier: Apache-2.0 */
/* Eviction: which frames go, and how. All functions are called with the lock. */
#ifndef KMM__MEMORY_RESIDENCY_EVICT_H
#define KMM__MEMORY_RESIDENCY_EVICT_H

#include "memory/residency/frame.h"

/* The frame to evict when `coming` bytes are free or will be, and `needed` are wanted. None when
 * frames that work still uses make up the difference and are needed so much later than all that are
 * idle that they are worth waiting for: what is idle would have to come back well before them. */
kmm__frame_t *kmm__frames_victim(const kmm__device_t *d, uint64_t coming, uint64_t needed);
/* Begins to evict an idle frame; when nothing has to be copied it is unmapped at once. When copies
 * cannot be enqueued, the frame is idle again once those that were are over. An error says that, or
 * that the host has no room for it. May do nothing: somebody may have pinned it while room was
 * made. Unlocks meanwhile. */
int kmm__frame_evict(kmm_runtime_t *rt, kmm__frame_t *f);
void kmm__frames_note_needed(kmm__device_t *d);
/* How much is kept free while memory is short: what the next tasks may have to map. */
uint64_t kmm__frames_reserve(const kmm__device_t *d);
/* By the device's own thread; unlocks meanwhile. */
void kmm__frames_evict_early(kmm__device_t *d);

#endif
