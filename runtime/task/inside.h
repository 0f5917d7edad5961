/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the program that each of its threads runs now: the statements of a `task` directive,
 * a function that runs as a chunk, or neither.
 *
 * A thread that is inside one of these may submit work. It must not wait for work, because that
 * work may wait for the thread.
 */
#ifndef KMM__TASK_INSIDE_H
#define KMM__TASK_INSIDE_H

#include <stdbool.h>

#include "task/object.h"

/* Called before and after the statements of a `task` directive. */
void kmm__inside_enter(kmm__task_t *t);
void kmm__inside_leave(void);
kmm__task_t *kmm__inside_task(void); /* the task whose statements this thread runs; NULL: none */
bool kmm__tasks_open(void);          /* true if some thread runs statements of a task */
void kmm__tasks_forked(void);        /* called in a forked process, which has only this thread */

/* True if this thread runs statements of a task, or a kernel or a function of the program as a
 * chunk, on whichever device. */
bool kmm__is_inside(void);
/* Returns KMM_E_STATE, with its text set, if kmm__is_inside; otherwise 0. `call` names the public
 * function that would wait. */
int kmm__inside_refuse(const char *call);

#endif
