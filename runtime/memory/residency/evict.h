/* SPDX-License-Identifier: Apache-2.0 */
/* Eviction of frames. All functions are called with the runtime's lock. */
#ifndef KMM__MEMORY_RESIDENCY_EVICT_H
#define KMM__MEMORY_RESIDENCY_EVICT_H

#include "memory/residency/frame.h"

/* Returns the frame to evict when `needed` bytes are wanted, of which `coming` bytes are free or
 * will be. NULL: no frame is idle, or waiting for frames in use is better. Waiting is better if two
 * things hold. `coming` and the frames in use that are needed much later than every idle frame make
 * up `needed`. An idle frame, if evicted, would have to come back before those in use are needed.
 */
kmm__frame_t *kmm__frames_victim(const kmm__device_t *d, uint64_t coming, uint64_t needed);
/* Begins to evict an idle frame. The frame is unmapped at once if nothing has to be copied. Unlocks
 * while it makes room for copies, enqueues them or unmaps the frame. Does nothing if a task pins
 * the frame while it makes room. Returns an error if the host has no room or a copy could not be
 * enqueued. Then the frame is idle again when the enqueued copies are done. */
int kmm__frame_evict(kmm_runtime_t *rt, kmm__frame_t *f);
/* Sets d->memory->all_needed: true if every idle frame is known to be needed again. */
void kmm__frames_note_needed(kmm__device_t *d);
/* Bytes to keep free while memory is short: what the next tasks may have to map. */
uint64_t kmm__frames_reserve(const kmm__device_t *d);
/* Evicts until the reserve is free. The device's own thread calls it. Unlocks during evictions. */
void kmm__frames_evict_early(kmm__device_t *d);

/* Counts the bytes of a box that come back: they are about to be copied to d, and an eviction had
 * taken them from d. For statistics. If the box is no interval of bytes, each byte of its hull
 * counts for the same fraction. */
void kmm__frames_count_again(kmm__device_t *d, kmm__array_t *a, const kmm__layout_t *l,
                             const kmm__box_t *b);

#endif
