/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition: maps and pins the frames that a task needs. All functions are called with the lock,
 * by the device's own thread. */
#ifndef KMM__MEMORY_RESIDENCY_ACQUIRE_H
#define KMM__MEMORY_RESIDENCY_ACQUIRE_H

#include "memory/residency/frame.h"

/* True if all frames that t touches are mapped. *bytes receives the bytes that t touches. */
bool kmm__frames_resident(kmm__task_t *t, uint64_t *bytes);
/* Maps and pins all frames that t's accesses touch on its device. `resident`: kmm__frames_resident
 * has just returned true. Returns 0 or an error with its text; KMM_E_MEMORY: they can never be
 * mapped together. May unlock meanwhile. */
int kmm__frames_acquire(kmm__task_t *t, bool resident);

#endif
