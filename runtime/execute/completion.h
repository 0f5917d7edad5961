/* SPDX-License-Identifier: Apache-2.0 */
/* Completion: what a task gives back when it is done. */
#ifndef KMM__EXECUTE_COMPLETION_H
#define KMM__EXECUTE_COMPLETION_H

#include "task/task.h"

/* The hooks of tasks: issue, running on the host, and completion. */
extern const kmm__task_hooks_t kmm__execute_hooks;

/* Locked: drops the accesses and works of direct tasks that are done. This is put off until the
 * program submits again or frees an array. So threads that run tasks do not touch arrays, which are
 * in the cache of the thread that submits. */
void kmm__tasks_settle(kmm_runtime_t *rt);

#endif
