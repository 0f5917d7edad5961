/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of tasks that fail, and of devices that are lost. All are called with the lock. */
#ifndef KMM__EXECUTE_FAILURE_H
#define KMM__EXECUTE_FAILURE_H

#include "task/task.h"

/* Fails a task, and notes why, with where it comes from and, if known, the argument. */
void kmm__fail(kmm__task_t *t, int error, const char *why);
/* Its data could not be copied to the host from a device. */
void kmm__fail_copy(kmm__task_t *t, int error, const kmm__device_t *from);
/* The text of an error of this thread: the backend's, or our own. */
const char *kmm__fail_reason(const kmm__device_t *d, int error);
/* What was to be enqueued for t has failed: its device may be lost. */
void kmm__fail_doubt(const kmm__task_t *t, int error);

/* A kernel has failed on the device. The driver then says of all work that it has failed, also of
 * what was done before and of copies, so all that was under way is named. */
void kmm__note_fault(kmm__device_t *d, int error);

#endif
