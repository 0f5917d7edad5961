/* SPDX-License-Identifier: Apache-2.0 */
/* Eviction of frames. All functions are called with the runtime's lock. */
#ifndef KMM__MEMORY_RESIDENCY_EVICT_H
#define KMM__MEMORY_RESIDENCY_EVICT_H

#include "memory/residency/frame.h"

/* Returns the frame to evict when `needed` bytes are wanted, of which `coming` bytes are free or
 * will be. NULL: no frame is idle, or it is better to wait for frames in use. Waiting is better if
 * frames in use suffice and are needed much later than every idle frame, so that an evicted idle
 * frame would have to come back before them. */
kmm__frame_t *kmm__frames_victim(const kmm__device_t *d, uint64_t coming, uint64_t needed);
/* Begins to evict an idle frame. If nothing has to be copied, it is unmapped at once. Does nothing
 * if a task pins the frame while room is made for the copy. Returns an error if the host has no
 * room or copies could not be enqueued; the frame is idle again once the enqueued copies are done.
 * Unlocks meanwhile. */
int kmm__frame_evict(kmm_runtime_t *rt, kmm__frame_t *f);
/* Sets d->memory->all_needed: true if every idle frame is known to be needed again. */
void kmm__frames_note_needed(kmm__device_t *d);
/* Bytes to keep free while memory is short: what the next tasks may have to map. */
uint64_t kmm__frames_reserve(const kmm__device_t *d);
/* Evicts until the reserve is free. Called by the device's own thread; unlocks meanwhile. */
void kmm__frames_evict_early(kmm__device_t *d);

/* With runtime->stats: counts what of a box that is about to be copied to d an eviction had taken
 * from it. Of a box that is no interval, each of its frames has an equal share. */
void kmm__frames_count_again(kmm__device_t *d, kmm__array_t *a, const kmm__layout_t *l,
                             const kmm__box_t *b);

#endif
