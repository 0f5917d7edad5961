/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread of the program is inside of: the statements of a `task` directive, or a function
 * that runs as a chunk. Such a thread may submit work and must not wait for work, which may wait
 * for the thread.
 */
#ifndef KMM__TASK_INSIDE_H
#define KMM__TASK_INSIDE_H

#include <stdbool.h>

#include "task/object.h"

/* Around the statements of a `task` directive. */
void kmm__inside_enter(kmm__task_t *t);
void kmm__inside_leave(void);
kmm__task_t *kmm__inside_task(void); /* that task; NULL: this thread is in none */
bool kmm__tasks_open(void);          /* whether any thread is inside of one */
void kmm__tasks_forked(void);        /* in a forked process only this thread's is open */

/* Around a function of the program that the runtime calls on this thread. */
void kmm__function_begin(void);
void kmm__function_end(void);

/* Whether this thread is inside of either. */
bool kmm__is_inside(void);
/* KMM_E_STATE, with its text set, inside; else 0. `call` is what would wait. */
int kmm__inside_refuse(const char *call);

#endif
