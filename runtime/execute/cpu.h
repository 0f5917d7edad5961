/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running tasks in the host's space: kernels on the streams of the CPU, and functions and
 * operations on its compute streams. All are called with the lock.
 */
#ifndef KMM__EXECUTE_CPU_H
#define KMM__EXECUTE_CPU_H

#include "task/task.h"

/* Unlocks meanwhile where data has to come from devices: brings what t needs; t runs when it is
 * there. */
void kmm__issue_on_host(kmm__task_t *t);
/* All that an issued task waits for is done: runs it. */
void kmm__host_run(kmm__task_t *t);
/* Something that it waits for has been read from disk, or, error with its text set, could not be.
 */
void kmm__host_arrived(kmm__task_t *t, int error, bool is_last);

#endif
