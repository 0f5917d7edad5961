/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on a GPU. backend.h is the contract of the functions. */
#ifndef KMM__BACKEND_GPU_KERNEL_H
#define KMM__BACKEND_GPU_KERNEL_H

#include "backend/gpu/driver.h"

int kmm__gpu_launch(kmm__stream_t *s, const kmm__run_t *r);
int kmm__gpu_launch_on(kmm__gpu_t *gpu, void *native, const kmm__run_t *r);
int kmm__gpu_code_load(kmm__gpu_t *gpu, const char *code, const char *const *names, uint32_t count,
                       void **handles);
void kmm__gpu_kernel_forget(kmm__gpu_t *gpu, const void *handle);

#endif
