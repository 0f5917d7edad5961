/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills on a GPU. backend.h is the contract of the functions. */
#ifndef KMM__BACKEND_GPU_COPY_H
#define KMM__BACKEND_GPU_COPY_H

#include "backend/gpu/driver.h"

int kmm__gpu_copy(kmm__stream_t *s, const kmm__copy_t *c);
int kmm__gpu_fill(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes);

#endif
