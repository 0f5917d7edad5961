/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition: the frames that a task needs are mapped and pinned. Locked, by the device's own
 * thread. */
#ifndef KMM__MEMORY_RESIDENCY_ACQUIRE_H
#define KMM__MEMORY_RESIDENCY_ACQUIRE_H

#include "memory/residency/frame.h"

/* Whether acquiring t's frames needs no mapping; *bytes receives how much t touches. */
bool kmm__frames_resident(kmm__task_t *t, uint64_t *bytes);
/* Maps and pins all frames that t's accesses touch on its device. resident: kmm__frames_resident
 * has just said that they are mapped. KMM_E_MEMORY: they can never be mapped together. May unlock
 * meanwhile. */
int kmm__frames_acquire(kmm__task_t *t, bool resident);

#endif
