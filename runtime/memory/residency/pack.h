/* SPDX-License-Identifier: Apache-2.0 */
/* Places of small arrays on a device, in slabs: frames that stay mapped and that they share. */
#ifndef KMM__MEMORY_RESIDENCY_PACK_H
#define KMM__MEMORY_RESIDENCY_PACK_H

#include "memory/state.h"

enum { KMM__SLABS_PART = 16 }; /* slabs take at most limit / KMM__SLABS_PART */

/* ---- Locked, by the device's own thread; these may unlock meanwhile ---- */
/* A place for a small array. False: it gets frames of its own. */
bool kmm__pack_take(kmm__device_t *d, uint64_t bytes, kmm__addr_t *out);
/* Gives unused slabs back. False: there were none. */
bool kmm__pack_trim(kmm__device_t *d);

uint64_t kmm__pack_bytes(const kmm__device_t *d);        /* locked; of its slabs */
void kmm__pack_return(kmm__device_t *d, kmm__addr_t at); /* locked; nothing uses it any more */

/* ---- Not locked ---- */
/* Gives another device of the driver access to the slab. */
void kmm__pack_share(kmm__device_t *d, kmm__addr_t at, kmm__device_t *to);
void kmm__pack_close(kmm__device_t *d); /* all arrays are gone */

#endif
