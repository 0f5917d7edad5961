/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetime of arrays: making, host buffers, and end. */
#ifndef KMM__MEMORY_LIFETIME_H
#define KMM__MEMORY_LIFETIME_H

#include "memory/array.h"

/* ---- Locked ---- */
/* Makes an array with one reference, the program's. `mapped`: memory of the program that it names;
 * NULL: it gets memory of its own. Returns 0 or an error with its text. */
int kmm__array_new(kmm_runtime_t *rt, size_t bytes, void *mapped, kmm_map_t map, const char *label,
                   kmm__array_t **out);
/* Makes an array on its home, whose driver reserves its name. `place` sets base, reserved and
 * residence, and may unlock; if it fails it has undone all. */
int kmm__array_new_at_home(kmm_runtime_t *rt, size_t bytes, kmm__device_t *home,
                           int (*place)(kmm__array_t *a), kmm__array_t **out);
/* Frees an array that no task has ever used, whose residences are released. */
void kmm__array_end(kmm__array_t *a);
void kmm__array_unref(kmm__array_t *a);
void kmm__array_forget(kmm__array_t *a); /* the program has freed it: removes it from the index */
/* One device has released its residence; the last one frees it. */
void kmm__array_left(kmm__array_t *a);
/* Returns its host buffer, made if needed. NULL: there is no memory. */
char *kmm__array_host(kmm__array_t *a);

/* ---- Not locked ---- */
/* From now on the address of a new array is its memory, if all arrays are in host memory. Then
 * kernels find arrays by pointers that the program has put into other arrays. */
void kmm__arrays_use_host_addresses(kmm_runtime_t *rt);

#endif
