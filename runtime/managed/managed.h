/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and handles that the calls of managed programs share. */
#ifndef KMM__MANAGED_H
#define KMM__MANAGED_H

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "base/api.h"

/* Converts a result of libkmm into a cudaError_t number. An error is printed and remembered. */
int kmm__managed_result(int code);
int kmm__managed_fail(int number, const char *text);
/* remembers an error without printing it, for calls by which programs test something */
int kmm__managed_note(int number);
/* Returns the result of a launch that libkmm was asked for. */
int kmm__managed_refuse(int error);
/* Returns the result of a synchronization: its own error, or else the last error of
 * kmm__managed_refuse, which is returned once. */
int kmm__managed_synced(int error);

/* ---- native.c ---- */
/* Makes the standing native again, if that is possible now. Called at the end of calls after which
 * no work may be under way. */
void kmm__managed_return(void);

/* ---- device.c ---- */
/* Counts an array that the program has created for the current device. */
void kmm__device_allocated(void *base);
/* Creates the handle of a stream or an event; NULL: out of memory. Freed with free. */
void *kmm__handle_create(void);

#endif
