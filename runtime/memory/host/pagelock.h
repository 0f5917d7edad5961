/* SPDX-License-Identifier: Apache-2.0 */
/* Page-locking of host buffers, in blocks. Functions are called without the runtime's lock. */
#ifndef KMM__MEMORY_HOST_PAGELOCK_H
#define KMM__MEMORY_HOST_PAGELOCK_H

#include "memory/array.h"

void kmm__pagelock_start(kmm_runtime_t *rt);
/* Waits until no block is being locked or queued to be. */
void kmm__pagelock_settle(kmm_runtime_t *rt);
void kmm__pagelock_stop(kmm_runtime_t *rt);

/* Bytes; less memory is not worth page-locking. */
#define KMM__LOCK_AT_LEAST ((size_t)1 << 20)

/* Returns the bytes from the offset to the end of its block. */
int64_t kmm__pagelock_room(const kmm__array_t *a, int64_t offset);

/* Called before `bytes` bytes at `offset`, which lie in one block, are copied from or to a device.
 * Page-locks the block if possible, and has the next blocks locked by other threads. False: the
 * copy should go through staging buffers. */
bool kmm__pagelock(kmm__array_t *a, kmm__device_t *d, int64_t offset, int64_t bytes);
/* Called before a block's memory is released. */
void kmm__pageunlock(kmm__array_t *a, uint32_t block);
void kmm__pageunlock_all(kmm__array_t *a); /* called before its host buffer is freed */
void kmm__pagelock_await(kmm__array_t *a); /* waits until none of its blocks is being locked */
/* Returns the bytes of its host buffer that are page-locked. None is being locked. */
uint64_t kmm__pagelock_locked_bytes(const kmm__array_t *a);

#endif
