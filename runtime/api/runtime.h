/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes, as the calls of the public interface need them. */
#ifndef KMM__API_RUNTIME_H
#define KMM__API_RUNTIME_H

#include "backend/device.h"
#include "base/api.h"

/* The runtime of this thread: what kmm_use gave it, or the process's own. NULL: there is none, and
 * this thread's error text says why. */
kmm_runtime_t *kmm__current(void);

/* What kernels of the devices have printed is printed, as a driver does when a program waits for a
 * device. but: a device for which it is done already, or NULL. */
void kmm__flush(kmm_runtime_t *rt, const kmm__device_t *but);

#endif
