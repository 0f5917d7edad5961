/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dependences, decided at submission: a new task follows the writers of what it touches and the
 * readers of what it writes. All functions are called with the runtime's lock.
 */
#ifndef KMM__TASK_DAG_H
#define KMM__TASK_DAG_H

#include "task/task.h"

/* A task that need not be looked at beside others of its launch: finds what it follows, and enters
 * its accesses, so that later work follows it. KMM_E_OVERLAP, with its text set, when another chunk
 * of the same launch writes what t writes. */
int kmm__dag_enter(kmm__task_t *t);

/* The same in three steps, for chunks that may read what others of their launch write. */
/* 1. Finds what t follows. */
int kmm__dag_follow(kmm__task_t *t);
/* 2. Of that only: chunks of the launch that have been entered and write what t writes. */
int kmm__dag_conflicts(kmm__task_t *t);
/* 3. Enters t's writes, or its reads; all writes of a launch come before its reads. */
void kmm__dag_record(kmm__task_t *t, bool writes);

#endif
