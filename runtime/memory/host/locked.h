/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the host's memory is page-locked, and buffers of arrays that have gone, kept with
 * what is locked of them. Not called with the runtime's lock, unless it says otherwise.
 */
#ifndef KMM__MEMORY_HOST_LOCKED_H
#define KMM__MEMORY_HOST_LOCKED_H

#include "memory/array.h"

/* The bound counts where it is given; else it is a part of the machine's memory. Bytes. */
void kmm__locked_start(kmm_runtime_t *rt, bool is_given, uint64_t bound);
void kmm__locked_stop(kmm_runtime_t *rt); /* drivers are still there */

/* Room for so many bytes that are to be page-locked; false: there is none. */
bool kmm__pagelock_reserve(kmm_runtime_t *rt, uint64_t bytes);
void kmm__pagelock_unreserve(kmm_runtime_t *rt, uint64_t bytes);

/* Keeps the buffer of an array that goes away, of which `locked` bytes are locked and no more are
 * being locked; false: it is still the array's. */
bool kmm__buffers_keep(kmm__array_t *a, uint64_t locked);
/* Gives an array that has no buffer one of those kept, which has another array's contents; false:
 * none has its size. May be locked. */
bool kmm__buffers_reuse(kmm__array_t *a);

#endif
