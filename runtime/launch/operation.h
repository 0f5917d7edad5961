/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks by which the runtime itself works on arrays in host memory. */
#ifndef KMM__LAUNCH_OPERATION_H
#define KMM__LAUNCH_OPERATION_H

#include "launch/fold.h"
#include "memory/array.h"

/* One reduction of a launch. */
typedef struct kmm__reduction {
    kmm_op_t op;
    kmm__element_t element;
    uint32_t item;      /* index of the launch's item */
    uint32_t partials;  /* index of the partials that it uses */
    int64_t begin, end; /* byte range of the target */
    bool takes_number;  /* where the target is a NaN: kmm_launch_numbers */
} kmm__reduction_t;

/* The operation of a task: a copy, a fill, or one step of a reduction. */
typedef struct kmm__array_operation {
    kmm__operation_t base; /* first */
    kmm__array_t *array, *other;
    int64_t begin, other_begin;
    size_t bytes;
    void *memory; /* memory of the program */
    int value;
    kmm__reduction_t reduction;
    kmm__partials_t partials;
    uint32_t first, count; /* range of partials */
    const char *file;      /* place of the launch that it belongs to; NULL: of none */
    int line;
    const char *launch, *item; /* of a fold: the launch's name, and the text of its item */
} kmm__array_operation_t;

/* Submits an operation with the given accesses; both are copied. If out_task is not NULL, it
 * receives a reference. The caller holds the lock. */
int kmm__operation_submit(kmm_runtime_t *rt, const kmm__array_operation_t *op, const char *name,
                          const kmm__access_t *accesses, uint32_t count, kmm__task_t **out_task);
/* Waits for the task and drops the reference. Returns the task's error, or the failure that
 * poisoned the task if it was not reported yet, with its text. The caller holds the lock. */
int kmm__operation_await(kmm_runtime_t *rt, kmm__task_t *t);

#endif
