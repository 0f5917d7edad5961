/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that need more memory than their device has, or that bring much more to it than they use.
 * All functions are called with the lock. */
#ifndef KMM__MEMORY_RESIDENCY_EXCEED_H
#define KMM__MEMORY_RESIDENCY_EXCEED_H

#include "memory/residency/frame.h"

/* True if frames of t that find no room may be host-backed. They may not if host memory is limited
 * or the driver cannot map it. */
bool kmm__task_may_exceed(const kmm__task_t *t);
/* Sets the text of KMM_E_MEMORY, which t gets because it needs `needed` bytes. Returns
 * KMM_E_MEMORY. */
int kmm__task_too_large(const kmm__task_t *t, uint64_t needed);
/* Warns that t needs more memory than the device has, and so works partly on host memory, which is
 * slow. Once for each kernel. */
void kmm__warn_exceeding(const kmm__task_t *t, uint64_t needed);
/* Warns of a chunk that uses little of many frames, such as a narrow tile of long rows: all of
 * these frames are brought, and others are evicted for them. Only for chunks that take a good part
 * of the device, and once for each kernel. */
void kmm__warn_amplified(const kmm__task_t *t, uint64_t needed);

#endif
