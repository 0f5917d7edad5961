/* SPDX-License-Identifier: Apache-2.0 */
/* Slabs: frames that stay mapped on a device, and that small arrays share. */
#ifndef KMM__MEMORY_RESIDENCY_PACK_H
#define KMM__MEMORY_RESIDENCY_PACK_H

#include "memory/state.h"

enum { KMM__SLABS_PART = 16 }; /* slabs take at most limit / KMM__SLABS_PART */

/* ---- Locked, by the device's own thread; these may unlock meanwhile ---- */
/* Allocates a small array's memory in a slab. False: it gets frames of its own. */
bool kmm__pack_take(kmm__device_t *d, uint64_t bytes, kmm__addr_t *out);
/* Lets slabs take more than 1/KMM__SLABS_PART of the device, until they move. */
void kmm__pack_unbind(kmm__device_t *d);
/* Maps all slabs elsewhere than at the addresses at which they were made. All work on the device is
 * over. Returns 0 or the backend's error. */
int kmm__pack_move(kmm__device_t *d);
/* Maps all slabs where they were made again. The same rules. */
int kmm__pack_return_home(kmm__device_t *d);
/* Returns where the memory at this address was before slabs moved. */
kmm__addr_t kmm__pack_name(const kmm__device_t *d, kmm__addr_t at);
/* Returns where the memory is now that was allocated at this address before slabs moved. */
kmm__addr_t kmm__pack_moved(const kmm__device_t *d, kmm__addr_t name);
/* Releases unused slabs. False: there were none. */
bool kmm__pack_trim(kmm__device_t *d);

uint64_t kmm__pack_bytes(const kmm__device_t *d); /* locked; bytes of slabs */
/* Locked; bytes of slabs in which arrays lie. The others can be released. */
uint64_t kmm__pack_used_bytes(const kmm__device_t *d);
/* Locked; frees an array's memory, which nothing uses. */
void kmm__pack_return(kmm__device_t *d, kmm__addr_t at);

/* ---- Not locked ---- */
/* Gives another device of the same backend access to the slab with this address. Returns 0 or the
 * backend's error. */
int kmm__pack_share(kmm__device_t *d, kmm__addr_t at, kmm__device_t *to);
void kmm__pack_close(kmm__device_t *d); /* all arrays are freed */

#endif
