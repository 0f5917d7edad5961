/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads of shared memory before the launch's first store there. What such a chunk has read is a
 * matter of chance if another chunk's store changes it, no order puts the store behind the load,
 * and the chunk neither stores there itself nor loads it again, in an order, behind that store.
 */
#ifndef KMM__EXECUTE_EXACT_EARLY_H
#define KMM__EXECUTE_EXACT_EARLY_H

#include "execute/exact_clock.h"

typedef struct kmm__earlies kmm__earlies_t; /* of a launch; all calls are one at a time */

/* Locked. */
kmm__earlies_t *kmm__earlies_make(kmm__work_t *w);
/* The chunk loads a byte to which nothing was stored yet. Of 16 MiB of memory at most; of two
 * chunks in each eight bytes. */
void kmm__early_load(kmm__earlies_t *all, const kmm__clock_t *c, uintptr_t address);
/* The chunk stores to a byte. `is_first`: no chunk has. */
void kmm__early_store(kmm__earlies_t *all, const kmm__clock_t *c, uintptr_t address, bool is_first);
/* The chunk loads a byte in an order behind the last store there. */
void kmm__early_settle(kmm__earlies_t *all, const kmm__clock_t *c, uintptr_t address);
/* The memory is released: what is loaded there later is something else. */
void kmm__early_forget(kmm__earlies_t *all, uintptr_t begin, uintptr_t end);
/* True if a chunk has loaded the byte before a store that has no order with that load. */
bool kmm__early_is_loose(const kmm__earlies_t *all, uintptr_t address);

#endif
