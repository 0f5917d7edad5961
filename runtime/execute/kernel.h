/* SPDX-License-Identifier: Apache-2.0 */
/* Handing tasks to a backend. */
#ifndef KMM__EXECUTE_KERNEL_H
#define KMM__EXECUTE_KERNEL_H

#include "task/task.h"

/* The arguments of t's work with every pointer as it is where t runs: args_bytes of them. */
void kmm__arguments_write(const kmm__task_t *t, unsigned char *packed);

/* Of tasks of one device that wait for none of each other: how many of the first ones are chunks
 * that can be one kernel launch, because their blocks are a box. At least 1. */
uint32_t kmm__chunks_join(kmm__task_t *const *tasks, uint32_t count);
/* Not locked: enqueues such chunks, or one task of any kind, on the stream. */
int kmm__chunks_launch(kmm__task_t *const *tasks, uint32_t count, kmm__stream_t *stream);

#endif
