/* SPDX-License-Identifier: Apache-2.0 */
/* Access to runtimes for the calls of the public interface. */
#ifndef KMM__API_RUNTIME_H
#define KMM__API_RUNTIME_H

#include "backend/device.h"
#include "base/api.h"

/* Returns this thread's runtime: the one set by kmm_use, or else the process's. NULL: there is
 * none; this thread's error text gives the reason. */
kmm_runtime_t *kmm__current(void);

/* Sets what is called when the process's runtime has been made. */
void kmm__default_tell(void (*made)(kmm_runtime_t *rt));

/* Prints what kernels have printed on the devices, as a driver does when a program waits for a
 * device. `but` is a device for which that is already done, or NULL. */
void kmm__flush(kmm_runtime_t *rt, const kmm__device_t *but);

#endif
