/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of the runtime on arrays in the host's space, as tasks. */
#ifndef KMM__LAUNCH_OPERATION_H
#define KMM__LAUNCH_OPERATION_H

#include "launch/fold.h"
#include "memory/array.h"

/* One item of a launch that is reduced into. */
typedef struct kmm__reduction {
    kmm_op_t op;
    kmm__element_t element;
    uint32_t item;      /* the launch's */
    uint32_t partials;  /* index of the private copies it goes through */
    int64_t begin, end; /* bytes of the target */
} kmm__reduction_t;

/* A copy, a fill, or a piece of a reduction. */
typedef struct kmm__array_operation {
    kmm__operation_t base; /* first */
    kmm__array_t *array, *other;
    int64_t begin, other_begin;
    size_t bytes;
    void *memory; /* the program's */
    int value;
    kmm__reduction_t reduction;
    kmm__partials_t partials;
    uint32_t first, count; /* slots */
} kmm__array_operation_t;

/* Locked: submits an operation with the given accesses; both are copied. out_task, if not NULL,
 * receives a reference. */
int kmm__operation_submit(kmm_runtime_t *rt, const kmm__array_operation_t *op, const char *name,
                          const kmm__access_t *accesses, uint32_t count, kmm__task_t **out_task);
/* Locked: waits for the task and drops the reference. Its error, or the failure that poisoned it if
 * nobody has been told of that yet; with its text. */
int kmm__operation_await(kmm_runtime_t *rt, kmm__task_t *t);

#endif
