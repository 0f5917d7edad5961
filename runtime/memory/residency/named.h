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

#endif
