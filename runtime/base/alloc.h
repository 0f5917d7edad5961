/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bookkeeping memory. If there is none, the process ends with a message: without a record of who
 * wrote what, the runtime could not keep results right.
 */
#ifndef KMM__BASE_ALLOC_H
#define KMM__BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory, freed by free(). Never NULL. */
void *kmm__alloc(size_t bytes);

/* The same at a multiple of 64 bytes, a cache line; not zeroed. */
void *kmm__alloc_line(size_t bytes);

/* Doubles the capacity of a growing array of elements of `size` bytes; the array may move. */
void *kmm__grow_more(void *data, uint32_t *capacity, size_t size);

/* Makes room for one more element in a growing array that holds `count`. */
static inline void *kmm__grow(void *data, uint32_t count, uint32_t *capacity, size_t size)
{
    return count < *capacity ? data : kmm__grow_more(data, capacity, size);
}

/* A copy of a string, freed by free(); NULL gives NULL. */
char *kmm__copy_text(const char *text);

#endif
