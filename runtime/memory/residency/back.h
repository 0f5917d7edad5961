/* SPDX-License-Identifier: Apache-2.0 */
/* The way back to native standing (native.h): whether all arrays can be at their names again, and
 * moving them there. */
#ifndef KMM__MEMORY_RESIDENCY_BACK_H
#define KMM__MEMORY_RESIDENCY_BACK_H

#include "memory/state.h"

/* All functions are called with the runtime's lock. */
/* True if no work is under way, and each array can be at its name on the only GPU, beside which
 * some memory would stay free. The arrays need not be on the GPU. */
bool kmm__back_fits(kmm_runtime_t *rt);
/* May unlock: gives up memory of the devices that nothing uses, and moves all arrays to their
 * names, of which there may be none; without `moves` there must be none. False: they cannot be
 * there, or are not all on the GPU, and nothing has moved. */
bool kmm__back_move(kmm_runtime_t *rt, bool moves);

#endif
