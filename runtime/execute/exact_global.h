/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of what plain functions store to variables of static storage, which all chunks share.
 *
 * Such a store is right if it leaves the same value whenever it is done, as a flag or a table that
 * is computed once; or if the chunk holds a lock. Otherwise the result depends on the chunks. So a
 * byte is wrong if the chunks of a launch have left several values in it, by stores that are not
 * atomic, outside of locks.
 */
#ifndef KMM__EXECUTE_EXACT_GLOBAL_H
#define KMM__EXECUTE_EXACT_GLOBAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kmm__check kmm__check_t;
typedef struct kmm__globals kmm__globals_t; /* what one chunk has stored to variables */

/* Finds the variables of the program. Called before the chunk runs. Nothing is checked of kernels,
 * and where the launch is one chunk. */
void kmm__exact_globals_open(kmm__check_t *c);
void kmm__exact_globals_close(kmm__check_t *c);
/* Called by the chunk's thread before it stores to memory of no array. */
void kmm__exact_global_store(kmm__check_t *c, uintptr_t address, size_t bytes, const void *pc);
/* Called by the chunk's thread when the chunk is done. Not locked. */
void kmm__exact_globals_report(kmm__check_t *c);

/* ---- For runtime/instrument: of the chunk that this thread runs ---- */
/* It has taken (1) or released (-1) a lock. */
void kmm__exact_lock(int change);
/* An atomic operation has changed a variable from one value to another. `takes`: it may have taken
 * a lock, which the old value there releases again. */
void kmm__exact_turn(const void *address, uint64_t from, uint64_t to, bool takes);

#endif
