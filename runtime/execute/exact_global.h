/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of what plain functions store outside of the launch's arrays: to memory that all chunks
 * share, as variables of static storage, memory that was allocated before the launch, and variables
 * of the functions around it. The stack of a chunk's thread, the variables that the thread has of
 * its own, and memory that the thread has allocated in chunks are the chunk's own.
 *
 * A byte is wrong if chunks have left several values in it, and a store to it is ordered neither
 * with another chunk's store nor with another chunk's load by locks or atomic variables
 * (execute/exact_clock.h). Then the result depends on the chunks. A flag or a table, which has the
 * same value whichever chunk stores it, is right.
 */
#ifndef KMM__EXECUTE_EXACT_GLOBAL_H
#define KMM__EXECUTE_EXACT_GLOBAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kmm__check kmm__check_t;
typedef struct kmm__globals kmm__globals_t; /* what one chunk has stored to shared memory */

/* Called by the chunk's thread before the chunk runs. Nothing is checked of kernels, and where the
 * launch is one chunk. */
void kmm__exact_globals_open(kmm__check_t *c);
void kmm__exact_globals_close(kmm__check_t *c);
/* Called by the chunk's thread before it loads from memory of no array, or stores to it. */
void kmm__exact_global_access(kmm__check_t *c, uintptr_t address, size_t bytes, bool stores,
                              const void *pc);
/* Called by the chunk's thread when the chunk is done. Not locked. */
void kmm__exact_globals_report(kmm__check_t *c);

/* ---- For runtime/instrument: of the chunk that this thread runs ---- */
typedef enum kmm__lock_change {
    KMM__LOCK_TAKE,   /* it has taken the lock */
    KMM__LOCK_SHARE,  /* it has taken the lock beside other readers */
    KMM__LOCK_RELEASE /* it is about to release the lock */
} kmm__lock_change_t;
/* `lock`: the lock's address. */
void kmm__exact_lock(const void *lock, kmm__lock_change_t how);
/* What it does now is done once in the process (1), is done (-1), or was done before (0). */
void kmm__exact_once(const void *once, int change);
/* Before and behind an atomic operation, with its order in C. The second is called if the first
 * returns true, by which other chunks' operations wait. */
bool kmm__exact_turn_begin(const void *address);
void kmm__exact_turn_end(const void *address, int order, bool loads, bool stores);
void kmm__exact_fence(void);
/* Called before main: true if all allocations of the program are told of. */
void kmm__exact_heap_begin(bool is_told);
void kmm__exact_took(const void *block, size_t bytes);
void kmm__exact_leaves(const void *block, size_t bytes);

#endif
