/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory of frames: spare frames, host-backed frames, unmapping. Functions are called with
 * the runtime's lock. */
#ifndef KMM__MEMORY_RESIDENCY_PHYSICAL_H
#define KMM__MEMORY_RESIDENCY_PHYSICAL_H

#include "base/spin.h"
#include "base/trace.h"
#include "memory/residency/frame.h"

/* Keeps the memory of an unmapped frame for another one. */
void kmm__spare_push(kmm__device_t *d, kmm__frame_handle_t handle, uint64_t bytes);
/* Takes a spare frame of this size. False: there is none. */
bool kmm__spare_take(kmm__device_t *d, uint64_t bytes, kmm__frame_handle_t *out);

/* Returns how many of `bytes` the driver has for the device at once, with the `used` ones that are
 * ours already. If this is not known, the rest is asked for and given back. The lock is kept while
 * the driver is called, because another thread would miss the memory meanwhile. */
uint64_t kmm__memory_prove(kmm__device_t *d, uint64_t bytes);

/* ---- These unlock meanwhile ---- */
/* Frees one spare frame, of whatever size. */
void kmm__spare_destroy(kmm_runtime_t *rt, kmm__device_t *d);
/* Frees the memory of a host-backed frame, which is not mapped. */
void kmm__host_backed_destroy(kmm__frame_t *f);
/* Unmaps f, which is idle or evicted. Its memory becomes spare. Returns 0, or the driver's error
 * with its text: then f is evicted, and its memory still mapped. */
int kmm__frame_unmap(kmm_runtime_t *rt, kmm__frame_t *f);

/* Gives up f, which is evicted and which the driver does not unmap. Its memory stays in use, and
 * its window must not be released. */
void kmm__frame_abandon(kmm__frame_t *f);

/* Not locked: counts a call of the driver that began at time `begin`. Atomic, because several
 * threads give access to frames of one device. */
static inline void kmm__count_since(uint64_t begin, uint64_t *count, uint64_t *ns)
{
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(ns, kmm__now() - begin, __ATOMIC_RELAXED);
}

#endif
