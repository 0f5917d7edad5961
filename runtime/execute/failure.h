/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of tasks that fail and of devices that are lost. All functions are called with the lock.
 */
#ifndef KMM__EXECUTE_FAILURE_H
#define KMM__EXECUTE_FAILURE_H

#include "task/task.h"

/* Sets t's error and notes the text: where t comes from, the argument at fault if known, and `why`.
 */
void kmm__fail(kmm__task_t *t, int error, const char *why);
/* Fails t because its data could not be copied from device `from` to the host. */
void kmm__fail_copy(kmm__task_t *t, int error, const kmm__device_t *from);
/* Returns the text of an error that a call on this thread has returned: libkmm's text for an error
 * of the disk, otherwise the backend's. */
const char *kmm__fail_reason(const kmm__device_t *d, int error);
/* Called after a call that enqueues for t has returned `error`. Finds out whether t's device is
 * lost. Does nothing if `error` is 0. */
void kmm__fail_doubt(const kmm__task_t *t, int error);

/* Notes an error that names all tasks under way on the device, after a kernel failed there. The
 * driver then fails all calls, also for work that was done before, so it cannot tell which kernel
 * it was. */
void kmm__note_fault(kmm__device_t *d, int error);

#endif
