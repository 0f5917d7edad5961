/* SPDX-License-Identifier: Apache-2.0 */
/* Runs tasks in the host's space: kernels on the streams of the CPU, functions and operations on
 * threads of its backend. All functions are called with the lock. */
#ifndef KMM__EXECUTE_CPU_H
#define KMM__EXECUTE_CPU_H

#include "task/task.h"

/* Issues t: makes its host buffers and brings its data. t runs once its data is there. Unlocks
 * meanwhile if copies are needed. */
void kmm__issue_on_host(kmm__task_t *t);
/* Runs t, which has been issued, and has all that it waits for. */
void kmm__host_run(kmm__task_t *t);
/* Runs the task of a function that runs undivided, once it has all that it waits for: the calling
 * thread, which has launched it, is where it finds all that it finds without its pragma. Returns
 * when it has run, or will not run. Unlocks meanwhile. Other work has no such task. */
void kmm__host_run_handed(kmm__work_t *w);
/* A page that t waits for has been read from disk; `error`, with its text set: could not be read.
 * `is_last`: it was the last one. */
void kmm__host_arrived(kmm__task_t *t, int error, bool is_last);

#endif
