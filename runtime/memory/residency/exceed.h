/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that need more memory than their device has, or that bring much more to it than they use.
 * All functions are called with the lock. */
#ifndef KMM__MEMORY_RESIDENCY_EXCEED_H
#define KMM__MEMORY_RESIDENCY_EXCEED_H

#include "memory/residency/frame.h"

/* True if memory that t needs beyond the device's may be host memory, that is, if the driver can
 * map host memory. If host memory is limited, a launch known to need this is refused at submission
 * (launch/fit.c). A task that turns out to need it later still runs, since its data would be lost
 * otherwise. */
bool kmm__task_may_exceed(const kmm__task_t *t);
/* Sorts missing frames of t, which the acquisition under way has listed: first those of which the
 * chunks of t's launch use the most. The last ones become host-backed. */
void kmm__exceeding_sort(const kmm__task_t *t, kmm__frame_t **frames, uint32_t count);
/* Sets the text of KMM_E_MEMORY, which t gets because it needs `needed` bytes. Returns
 * KMM_E_MEMORY. */
int kmm__task_too_large(const kmm__task_t *t, uint64_t needed);
/* True once for each kernel, function or task that needs more than the device has. */
bool kmm__exceeds_first(const kmm__device_t *d, const kmm__work_t *w);
/* Warns once that a kernel needs more than the device has, and works on host memory, slowly. */
void kmm__warn_exceeding(const kmm__task_t *t, uint64_t needed);
/* Warns of a chunk that uses little of many frames, such as a narrow tile of long rows: all of
 * these frames are brought, and others are evicted for them. Warns once for each kernel, and only
 * of chunks that take a large part of the device. */
void kmm__warn_amplified(const kmm__task_t *t, uint64_t needed);

#endif
