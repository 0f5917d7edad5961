/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM__BACKEND_GPU_COPY_H
#define KMM__BACKEND_GPU_COPY_H

#include "backend/gpu/driver.h"

/* Copies and fills on a GPU. backend.h is the contract of the functions. */
int kmm__gpu_copy(kmm__stream_t *s, const kmm__copy_t *c);
int kmm__gpu_fill(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes);

#endif
