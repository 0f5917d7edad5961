/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of copies between devices and ordinary host memory on this machine. They are measured once
 * and kept in the user's cache folder. */
#ifndef KMM__MEMORY_HOST_COSTS_H
#define KMM__MEMORY_HOST_COSTS_H

#include "backend/device.h"

/* Costs, in seconds for each byte. */
typedef struct kmm__copy_costs {
    double lock;  /* page-locking and unlocking memory that is in use */
    double stage; /* filling staging buffers, with all threads together */
    double link;  /* copying page-locked memory to the device; 0: not known */
} kmm__copy_costs_t;

/* Returns how many times a block's size is best copied through staging buffers before the block is
 * page-locked: as much as costs the same as locking. All copies then cost at most twice the least
 * possible. 0: lock at once. */
double kmm__costs_times(const kmm__copy_costs_t *c);

/* Loads what an earlier process on this machine measured with as many threads and as large buffers,
 * within a week. False: there is none. */
bool kmm__costs_load(const kmm__device_t *d, uint32_t threads, size_t buffer_bytes,
                     kmm__copy_costs_t *out);
/* Saves costs. Another process may read or write the file meanwhile. It is no error if the file
 * cannot be written. */
void kmm__costs_save(const kmm__device_t *d, uint32_t threads, size_t buffer_bytes,
                     const kmm__copy_costs_t *c);

/* The same for the number of `count` devices that should copy at once (links.h). */
bool kmm__links_load(const kmm__device_t *d, uint32_t count, uint32_t *out);
void kmm__links_save(const kmm__device_t *d, uint32_t count, uint32_t most);

/* Measures and sets out->lock and out->link. `sample` is KMM__SAMPLE_BYTES bytes of ordinary memory
 * that is in use. `locked` is `bytes` bytes of page-locked memory, whose contents are overwritten.
 */
enum { KMM__SAMPLE_BYTES = 64 << 20, KMM__COST_ROUNDS = 3 };
void kmm__costs_measure(kmm__device_t *d, char *sample, char *locked, size_t bytes,
                        kmm__copy_costs_t *out);
double kmm__costs_now(void); /* monotonic time in seconds */

#endif
