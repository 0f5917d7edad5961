/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the program makes inside the statements of a `task` directive. */
#ifndef KMM__LAUNCH_TASK_DIRECTIVE_H
#define KMM__LAUNCH_TASK_DIRECTIVE_H

#include <stdbool.h>

/* Inside a task: waits for all work that was submitted before the task, and returns its error.
 * Elsewhere returns 0. */
int kmm__task_directive_settle(void);
/* Inside a task: true if the address is in an array of the task that lies where the program can
 * access it. */
bool kmm__task_directive_reaches(const void *address);

#endif
