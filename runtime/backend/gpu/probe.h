/* SPDX-License-Identifier: Apache-2.0 */
/* Trial of a GPU: whether memory can be mapped into address space. */
#ifndef KMM__BACKEND_GPU_PROBE_H
#define KMM__BACKEND_GPU_PROBE_H

#include "backend/gpu/driver.h"

/* True if memory can be mapped into address space. Maps three frames, copies across their borders,
 * and releases all. The device is current. */
bool kmm__gpu_can_map(kmm__gpu_t *gpu);

#endif
