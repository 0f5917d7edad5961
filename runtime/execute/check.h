/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_CHECK=access: whether chunks do what their clauses say. */
#ifndef KMM__EXECUTE_CHECK_H
#define KMM__EXECUTE_CHECK_H

#include "task/task.h"

/* Where the elements of a launch's item begin. The array is there as long as the chunks are. */
typedef struct kmm__origin {
    const kmm__array_t *array; /* NULL: the item is empty */
    int64_t offset, element;   /* bytes: from the array's base; of one element */
} kmm__origin_t;

typedef struct kmm__check kmm__check_t;

/* Reads what the environment asks for into rt->checks_access. 0 or an error with its text. */
int kmm__check_config(kmm_runtime_t *rt);

/* Whether t runs on copies of its arrays. */
bool kmm__check_wants(const kmm__task_t *t);
/* Not locked: runs a kernel or a function by `launch`, on copies of t's arrays. What it does wrong
 * is noted as t's error. */
int kmm__check_launch(kmm__task_t *t, kmm__stream_t *stream,
                      int (*launch)(kmm__task_t *t, kmm__stream_t *stream));
/* Not locked: runs a function of the program by `call`, on this thread, on copies of t's arrays, in
 * the host's space. KMM_E_MEMORY: there was no memory for the copies, and nothing has run. */
int kmm__check_call(kmm__task_t *t, void (*call)(kmm__task_t *t));
/* Where a chunk on the CPU finds the array's copy; NULL: there is none. For handlers of signals. */
const char *kmm__check_copy(const kmm__check_t *c, const kmm__array_t *a);
/* The address of the copy of an array. */
uint64_t kmm__check_base(const kmm__check_t *c, const kmm__array_t *a);

#endif
