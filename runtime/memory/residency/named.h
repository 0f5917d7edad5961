/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of native standing (native.h): each is mapped at its name, on its home. Freed ones are
 * kept for a while, for the next ones of their sizes. */
#ifndef KMM__MEMORY_RESIDENCY_NAMED_H
#define KMM__MEMORY_RESIDENCY_NAMED_H

#include "memory/state.h"

/* Locks named arrays. All functions below but kmm__named_move need this lock, and may not hold the
 * runtime's. */
void kmm__named_lock(void);
void kmm__named_unlock(void);

/* Makes an array on d. is_shared: all GPUs get access to it. KMM_E_MEMORY: it does not fit. */
int kmm__named_new(kmm_runtime_t *rt, kmm__device_t *d, size_t bytes, bool is_shared, void **out);
/* Frees the array with this base, when all work on it is done. False: there is none. */
bool kmm__named_free(kmm_runtime_t *rt, void *base);
/* Gives back the memory of arrays that are kept. */
void kmm__named_trim(kmm_runtime_t *rt);
/* Gives all GPUs access to all arrays. KMM_E_UNSUPPORTED: the driver cannot. */
int kmm__named_share(kmm_runtime_t *rt);

/* Moves the frames of all arrays from their names to windows, and notes that each array's home
 * holds all of it. Called with the runtime's lock, when none is kept and all work is over. An error
 * has its text, and nothing has moved. */
int kmm__named_move(kmm_runtime_t *rt);
/* Moves the frames of all arrays back to their names, on the only device d, which holds all of
 * them. Called with the runtime's lock, when all work is over. False: the driver failed, and the
 * device is lost. */
bool kmm__named_return(kmm__device_t *d);
/* True for arrays that lie in slabs if they can. */
static inline bool kmm__named_is_small(const kmm__device_t *d, uint64_t bytes)
{
    enum { PART = 4 };
    return bytes <= d->info.granularity / PART;
}
/* Reserves the name of an array that is made in managed standing, so that its memory can be there
 * later. Called with the runtime's lock; unlocks meanwhile. Returns 0 or an error with its text. */
int kmm__named_reserve(kmm__array_t *a);

#endif
