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

/* Not locked: forgets the error that was noted, and makes it this thread's. Returns its code. */
int kmm__error_take(kmm_runtime_t *rt);

/* Locked: a call returns the error of a task. Makes the error that was noted this thread's, or if
 * there is none `code`. Returns its code. */
int kmm__error_tell(kmm_runtime_t *rt, int code);

/* Not locked: true if the error that was noted last has been told. */
bool kmm__error_is_told(kmm_runtime_t *rt);

/* True if this thread's error is of work that had been submitted before the call that told it. */
bool kmm__error_is_late(void);

#endif
