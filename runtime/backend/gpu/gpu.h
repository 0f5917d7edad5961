/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM__BACKEND_GPU_GPU_H
#define KMM__BACKEND_GPU_GPU_H

#include "backend/gpu/driver.h"

/* A backend over a driver's table. KMM_E_NO_DEVICE, with *reason set to a static or thread-local
 * text, when there is no driver, it is too old, or it has no device. */
int kmm__gpu_backend_create(kmm__gpu_driver_t *driver, kmm__backend_t **out, const char **reason);

#endif
