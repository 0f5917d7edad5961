/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM__MANAGED_H
#define KMM__MANAGED_H

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "base/api.h"

/* A result of libkmm as a cudaError_t number; an error is printed and remembered. */
int kmm__managed_result(int code);
int kmm__managed_fail(int number, const char *text);
int kmm__managed_note(int number); /* remembered and not printed: programs ask in order to see */

/* ---- device.c ---- */
void kmm__device_allocated(
    void *base); /* an array that the program has made: it counts as the current device's */
void *
kmm__handle_create(void); /* names a stream or an event; NULL: out of memory. Freed with free */

#endif
