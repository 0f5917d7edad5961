/* SPDX-License-Identifier: Apache-2.0 */
/* What copies between a device and ordinary memory of the host cost on this machine: measured once,
 * kept in the user's cache folder. */
#ifndef KMM__MEMORY_HOST_COSTS_H
#define KMM__MEMORY_HOST_COSTS_H

#include "backend/device.h"

/* Seconds for each byte. */
typedef struct kmm__copy_costs {
    double lock;  /* page-locking memory that is in use, and unlocking it */
    double stage; /* filling page-locked buffers, all threads together */
    double link;  /* copying page-locked memory to the device; 0: not known */
} kmm__copy_costs_t;

/* How many times its size of a block is best copied through buffers before it is locked: as much as
 * costs what locking does, after which no choice can have been worse than twice the best. 0: lock
 * at once. */
double kmm__costs_times(const kmm__copy_costs_t *c);

/* What an earlier process on this machine measured with as many threads and as large buffers,
 * within a week. */
bool kmm__costs_load(const kmm__device_t *d, uint32_t threads, size_t buffer_bytes,
                     kmm__copy_costs_t *out);
/* Another process may read or write the file meanwhile. That it cannot be written is no error. */
void kmm__costs_save(const kmm__device_t *d, uint32_t threads, size_t buffer_bytes,
                     const kmm__copy_costs_t *c);

/* The same for how many of `count` devices should copy at once (links.h). */
bool kmm__links_load(const kmm__device_t *d, uint32_t count, uint32_t *out);
void kmm__links_save(const kmm__device_t *d, uint32_t count, uint32_t most);

/* Sets lock and link. `sample` is ordinary memory that is in use, KMM__SAMPLE_BYTES of it; `locked`
 * is page-locked memory of so many bytes, whose contents are of no use. */
enum { KMM__SAMPLE_BYTES = 64 << 20, KMM__COST_ROUNDS = 3 };
void kmm__costs_measure(kmm__device_t *d, char *sample, char *locked, size_t bytes,
                        kmm__copy_costs_t *out);
double kmm__costs_now(void); /* seconds */

#endif
