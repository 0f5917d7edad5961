/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of `task` directives, whose work is statements of the program. The device's thread brings
 * their data and orders their stream. The program's thread runs the statements and ends the task.
 */
#ifndef KMM__EXECUTE_STATEMENTS_H
#define KMM__EXECUTE_STATEMENTS_H

#include "memory/transfer.h"

/* Locked, may unlock: takes a task stream of the device; waits until one is free. Returns its index
 * in d->compute_streams, or a negative error with its text. */
int kmm__task_stream_take(kmm__device_t *d);
/* Locked: frees the task stream. */
void kmm__task_stream_return(kmm__device_t *d, uint32_t compute_stream);

/* Locked, unlocks meanwhile: enqueues t's copies, which have been planned, and lets the statements
 * run. They run at once if the program gets t's stream, which waits for the copies; otherwise, once
 * the copies are done. */
void kmm__statements_issue(kmm__task_t *t, kmm__moves_t *moves);
/* Locked: lets the program's thread run the statements. */
void kmm__statements_enter(kmm__task_t *t);

/* Not locked: runs a kernel on t's stream, with untranslated arguments, and waits for it. Returns 0
 * or an error with its text. */
int kmm__statements_launch(kmm__task_t *t, const kmm_kernel_t *kernel,
                           const kmm_geometry_t *geometry, void **args);
/* Not locked: ends t after its statements have run, or were skipped. */
void kmm__statements_end(kmm__task_t *t);

#endif
