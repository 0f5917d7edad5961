/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own use of a device: its current device, its streams, waiting for all work.
 * backend.h is the contract of the functions. */
#ifndef KMM__BACKEND_GPU_FOREIGN_H
#define KMM__BACKEND_GPU_FOREIGN_H

#include "backend/gpu/driver.h"

int kmm__gpu_current(kmm__backend_t *b);
void *kmm__gpu_native(kmm__stream_t *s);
int kmm__gpu_follow(kmm__gpu_t *gpu, void *native, void (*fn)(void *arg, int status), void *arg);
int kmm__gpu_precede(kmm__stream_t *s, void *native);
int kmm__gpu_succeed(kmm__stream_t *s, void *native);
int kmm__gpu_finish(kmm__gpu_t *gpu);

#endif
