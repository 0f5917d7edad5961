/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks whose work is the program's own statements. The device's thread brings their data and
 * orders their stream; the thread of the program runs the statements and ends the task.
 */
#ifndef KMM__EXECUTE_STATEMENTS_H
#define KMM__EXECUTE_STATEMENTS_H

#include "memory/transfer.h"

/* Locked, may unlock: a compute stream for such a task, until kmm__task_stream_return. Negative: an
 * error, with its text set. */
int kmm__task_stream_take(kmm__device_t *d);
void kmm__task_stream_return(kmm__device_t *d, uint32_t compute_stream); /* locked */

/* Locked, unlocks meanwhile: enqueues the copies, which have been planned. */
void kmm__statements_issue(kmm__task_t *t, kmm__moves_t *moves);
/* Locked: the statements may run. */
void kmm__statements_enter(kmm__task_t *t);

/* Not locked: runs a kernel on the task's stream, with arguments as they are. 0 or an error with
 * its text. */
int kmm__statements_launch(kmm__task_t *t, const kmm_kernel_t *kernel,
                           const kmm_geometry_t *geometry, void **args);
/* Not locked: the statements have run, or will not. */
void kmm__statements_end(kmm__task_t *t);

#endif
