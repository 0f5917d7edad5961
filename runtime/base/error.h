/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors. A call returns 0 or a negative number of kmm/error.h, and leaves the text of an error
 * with its thread. What fails later, on a device, is noted in the runtime, which keeps the first.
 */
#ifndef KMM__BASE_ERROR_H
#define KMM__BASE_ERROR_H

#include <stdbool.h>

#include <kmm.h>
#include <kmm/error.h>

#include "base/api.h"

/* Sets this thread's text. Returns code. */
int kmm__error_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* This thread's text. */
const char *kmm__error_get(void);

/* True for errors of the disk, whose text is this thread's and not a backend's. */
bool kmm__error_is_of_disk(int code);

/* Locked: notes an error of asynchronous work, unless one is noted already. KMM_E_POISONED is not
 * noted: it follows from another error. */
void kmm__error_note(kmm_runtime_t *rt, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Not locked: clears the noted error and makes it this thread's error. Returns its code, or 0. */
int kmm__error_take(kmm_runtime_t *rt);

/* Locked: for a call that returns the error `code` of a task. Makes the noted error this thread's
 * error, or `code` if none is noted. Returns the code of that error. */
int kmm__error_tell(kmm_runtime_t *rt, int code);

/* Not locked: true if some call has returned the noted error to the program. */
bool kmm__error_is_told(kmm_runtime_t *rt);

/* True if this thread's error is of work that was submitted before the call that returned it. */
bool kmm__error_is_late(void);

#endif
