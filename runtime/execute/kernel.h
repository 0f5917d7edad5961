/* SPDX-License-Identifier: Apache-2.0 */
/* Hands tasks to a backend. */
#ifndef KMM__EXECUTE_KERNEL_H
#define KMM__EXECUTE_KERNEL_H

#include "task/task.h"

/* Writes the args_bytes bytes of t's arguments to `packed`, with pointers translated to addresses
 * where t runs. */
void kmm__arguments_write(const kmm__task_t *t, unsigned char *packed);
/* Returns the address at which the chunk finds the array's first byte. */
uint64_t kmm__chunk_address(const kmm__task_t *t, const kmm__array_t *a);
/* Not locked: calls t's function on this thread. */
void kmm__function_call(kmm__task_t *t);

/* Returns how many of the first tasks can be one kernel launch: chunks of one launch whose blocks
 * together are a box. At least 1. The tasks are of one device and wait for none of each other. */
uint32_t kmm__chunks_join(kmm__task_t *const *tasks, uint32_t count);
/* Not locked: enqueues one task of any kind, or tasks that kmm__chunks_join has joined, on the
 * stream. Returns 0 or an error. */
int kmm__chunks_launch(kmm__task_t *const *tasks, uint32_t count, kmm__stream_t *stream);

#endif
