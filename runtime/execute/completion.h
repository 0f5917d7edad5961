/* SPDX-License-Identifier: Apache-2.0 */
/* What a task gives back when it is done. */
#ifndef KMM__EXECUTE_COMPLETION_H
#define KMM__EXECUTE_COMPLETION_H

#include "task/task.h"

/* How tasks of this runtime are issued, run, and give back what they hold. */
extern const kmm__task_hooks_t kmm__execute_hooks;

/* Locked: drops what direct tasks that are done hold of arrays. It is put off until the program
 * submits again or frees an array, so that threads that run tasks do not touch arrays, which are in
 * the cache of the thread that submits. */
void kmm__tasks_settle(kmm_runtime_t *rt);

#endif
