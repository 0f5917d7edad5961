/* SPDX-License-Identifier: Apache-2.0 */
/* The array nearest to an address, for signal handlers. */
#ifndef KMM__OBSERVE_NEAREST_H
#define KMM__OBSERVE_NEAREST_H

#include "memory/array.h"

typedef struct kmm__nearest {
    const kmm__array_t *array; /* NULL: there is none */
    /* where the array begins near the address: in host memory, on the device, or in the copy of
     * KMM_CHECK=access */
    const char *at;
    /* `at` is the address that names the array; nothing is mapped there */
    bool is_name;
    /* distance in bytes: from an address before the array to its first byte; from its end to an
     * address behind it */
    uint64_t before, behind;
    bool is_inside;
} kmm__nearest_t;

/* Searches the runtime's arrays, and the arrays of the task `running` if it is not NULL. Skips the
 * runtime's arrays if its lock cannot be taken within a short time, because this thread may hold
 * it. */
void kmm__nearest_find(kmm_runtime_t *rt, const kmm__task_t *running, const char *address,
                       kmm__nearest_t *out);
/* True if an array that has ended was at the address on a device. */
bool kmm__nearest_was_array(const kmm_runtime_t *rt, const char *address);
/* Returns the item of the task that names the array; KMM__MAX_ITEMS: none does. */
uint32_t kmm__nearest_item(const kmm__task_t *t, const kmm__array_t *a);
/* True if the clauses of a task name byte `offset` of the array. */
bool kmm__nearest_is_accessed(const kmm__task_t *t, const kmm__array_t *a, int64_t offset);

#endif
