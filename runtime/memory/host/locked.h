/* SPDX-License-Identifier: Apache-2.0 */
/* The bound of page-locked memory, and kept buffers. A kept buffer is the host buffer of a freed
 * array, with its page-locks, for a later array of the same size. Functions are called without the
 * runtime's lock, unless they say otherwise. */
#ifndef KMM__MEMORY_HOST_LOCKED_H
#define KMM__MEMORY_HOST_LOCKED_H

#include "memory/array.h"

/* Sets the bound: at most `bound` bytes may be page-locked if is_given, otherwise three
 * quarters of the machine's memory. */
void kmm__locked_start(kmm_runtime_t *rt, bool is_given, uint64_t bound);
void kmm__locked_stop(kmm_runtime_t *rt); /* ends it; drivers are still loaded */

/* Takes room for bytes that are to be page-locked. False: there is none. */
bool kmm__pagelock_reserve(kmm_runtime_t *rt, uint64_t bytes);
/* Returns such room. */
void kmm__pagelock_unreserve(kmm_runtime_t *rt, uint64_t bytes);

/* Keeps the host buffer of an array that is being freed; `locked` bytes of it are page-locked, and
 * none is being locked. False: it is not kept, and still the array's. */
bool kmm__buffers_keep(kmm__array_t *a, uint64_t locked);
/* Gives an array without host buffer a kept one of the same size, which holds another array's
 * contents. False: there is none. May be called with the lock. */
bool kmm__buffers_reuse(kmm__array_t *a);

#endif
