/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_CHECK=access: checks that chunks access only what their clauses say. Chunks that
 * KMM_CHECK=result compares work on copies as under that check. */
#ifndef KMM__EXECUTE_CHECK_H
#define KMM__EXECUTE_CHECK_H

#include "execute/origin.h"
#include "task/task.h"

typedef struct kmm__check kmm__check_t;

/* Sets rt->checks_access and rt->checks_result from the environment variable KMM_CHECK, a list with
 * commas. Returns 0 or an error with its text. */
int kmm__check_config(kmm_runtime_t *rt);

/* True if t must run on copies of its arrays. */
bool kmm__check_wants(const kmm__task_t *t);
/* Not locked: calls `launch`, which enqueues t's kernel or function on the stream, so that it runs
 * on copies of t's arrays. A wrong access becomes t's error. Returns 0 or an error; KMM_E_MEMORY:
 * there is no memory for the copies. */
int kmm__check_launch(kmm__task_t *t, kmm__stream_t *stream,
                      int (*launch)(kmm__task_t *t, kmm__stream_t *stream));
/* Not locked: calls `call`, which runs t's function on this thread, in the host's space, so that it
 * runs on copies of t's arrays. A wrong access becomes t's error. Returns 0, or KMM_E_MEMORY if
 * there is no memory for the copies; then nothing has run. */
int kmm__check_call(kmm__task_t *t, void (*call)(kmm__task_t *t));
/* Address at which a chunk on the CPU finds the array's copy; NULL: there is none. For handlers of
 * signals. */
const char *kmm__check_copy(const kmm__check_t *c, const kmm__array_t *a);
/* The address of the copy of an array. */
uint64_t kmm__check_base(const kmm__check_t *c, const kmm__array_t *a);

#endif
