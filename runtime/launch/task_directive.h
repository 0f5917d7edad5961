/* SPDX-License-Identifier: Apache-2.0 */
/* What calls of the program do while its thread is inside the statements of a `task` directive. */
#ifndef KMM__LAUNCH_TASK_DIRECTIVE_H
#define KMM__LAUNCH_TASK_DIRECTIVE_H

#include <stdbool.h>

/* Inside: waits for all work that was submitted before the task, and returns its error. Else 0. */
int kmm__task_directive_settle(void);
/* Inside: whether the address is in an array of the task's that lies where the program has it. */
bool kmm__task_directive_reaches(const void *address);

#endif
