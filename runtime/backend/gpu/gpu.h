/* SPDX-License-Identifier: Apache-2.0 */
/* The backend of GPUs, over a table of a driver. */
#ifndef KMM__BACKEND_GPU_GPU_H
#define KMM__BACKEND_GPU_GPU_H

#include "backend/gpu/driver.h"

/* Makes a backend over a driver's table. Returns KMM_E_NO_DEVICE, and sets *reason to a static or
 * thread-local text, if there is no driver, if it is too old, or if it has no device. */
int kmm__gpu_backend_create(kmm__gpu_driver_t *driver, kmm__backend_t **out, const char **reason);

#endif
