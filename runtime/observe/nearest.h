/* SPDX-License-Identifier: Apache-2.0 */
/* The array nearest to an address, for a handler of signals. */
#ifndef KMM__OBSERVE_NEAREST_H
#define KMM__OBSERVE_NEAREST_H

#include "memory/array.h"

typedef struct kmm__nearest {
    const kmm__array_t *array; /* NULL: there is none */
    const char *at;            /* its beginning there: in the host's memory, on the device, or in
                                * the copy of KMM_CHECK=access */
    bool is_name;              /* `at` is the address that names it, at which nothing is mapped */
    uint64_t before, behind;   /* bytes from the address to its first byte, or from its end to the
                                * address, where the address is outside */
    bool is_inside;
} kmm__nearest_t;

/* Of a runtime's arrays, and of those of the task that runs, if it is not NULL. Those of the
 * runtime are left out if its lock cannot be had soon, which this thread may hold itself. */
void kmm__nearest_find(kmm_runtime_t *rt, const kmm__task_t *running, const char *address,
                       kmm__nearest_t *out);
/* The item of the task that names the array; KMM__MAX_ITEMS: none does. */
uint32_t kmm__nearest_item(const kmm__task_t *t, const kmm__array_t *a);
/* True if a task accesses byte `offset` of the array, as its clauses say. */
bool kmm__nearest_is_accessed(const kmm__task_t *t, const kmm__array_t *a, int64_t offset);

#endif
