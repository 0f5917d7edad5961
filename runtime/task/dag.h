/* SPDX-License-Identifier: Apache-2.0 */
/* Dependences between tasks, found at submission. A new task follows the last writers of what it
 * touches, and the readers of what it writes. All functions are called with the runtime's lock. */
#ifndef KMM__TASK_DAG_H
#define KMM__TASK_DAG_H

#include "task/task.h"

/* Finds the tasks that t follows and records t's accesses, so that later tasks follow t. t must
 * read nothing that another chunk of its launch writes. Returns 0 or an error: KMM_E_OVERLAP, with
 * its text set, if another chunk of the launch writes elements that t writes. */
int kmm__dag_enter(kmm__task_t *t);

/* Three steps do what kmm__dag_enter does, for launches in which a chunk may read what another
 * chunk writes. A step is made for all chunks of a launch before the next step. */
/* Step 1: finds the tasks that t follows. Returns 0 or an error. */
int kmm__dag_follow(kmm__task_t *t);
/* Step 2: makes t follow the chunks of its launch that are recorded and whose writes overlap t's.
 * Returns 0, or KMM_E_OVERLAP if the overlap is exact. */
int kmm__dag_conflicts(kmm__task_t *t);
/* Step 3: records t's writes, or its reads. All writes of a launch are recorded before its reads.
 */
void kmm__dag_record(kmm__task_t *t, bool writes);

#endif
