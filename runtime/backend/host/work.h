/* SPDX-License-Identifier: Apache-2.0 */
/* Enqueues work on a stream of the CPU. backend.h is the contract of the functions. */
#ifndef KMM__BACKEND_HOST_WORK_H
#define KMM__BACKEND_HOST_WORK_H

#include "backend/backend.h"

int kmm__host_copy(kmm__stream_t *s, const kmm__copy_t *copy);
int kmm__host_fill(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes);
int kmm__host_launch(kmm__stream_t *s, const kmm__run_t *run);
int kmm__host_notify(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg);

#endif
