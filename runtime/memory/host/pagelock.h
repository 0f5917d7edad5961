/* SPDX-License-Identifier: Apache-2.0 */
/* Page-locking of host buffers, in blocks. Nothing here is called with the runtime's lock. */
#ifndef KMM__MEMORY_HOST_PAGELOCK_H
#define KMM__MEMORY_HOST_PAGELOCK_H

#include "memory/array.h"

void kmm__pagelock_start(kmm_runtime_t *rt);
void kmm__pagelock_settle(kmm_runtime_t *rt); /* waits until no block is being locked, nor to be */
void kmm__pagelock_stop(kmm_runtime_t *rt);

/* Less is not worth page-locking. Bytes. */
#define KMM__LOCK_AT_LEAST ((size_t)1 << 20)

/* Bytes from the offset to the end of its block. */
int64_t kmm__pagelock_room(const kmm__array_t *a, int64_t offset);

/* Before `bytes` of the block in which the offset lies are copied from or to a device: page-locks
 * the block, if it can be, and has those behind it locked meanwhile. False: the copy should go
 * through buffers instead. */
bool kmm__pagelock(kmm__array_t *a, kmm__device_t *d, int64_t offset, int64_t bytes);
void kmm__pageunlock(kmm__array_t *a, uint32_t block); /* before a block's pages go away */
void kmm__pageunlock_all(kmm__array_t *a);             /* before its host buffer goes away */
void kmm__pagelock_await(kmm__array_t *a);             /* until no block is being locked */
/* How much of its host buffer is locked, none of which is being locked. */
uint64_t kmm__pagelock_locked_bytes(const kmm__array_t *a);

#endif
