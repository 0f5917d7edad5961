/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM__BACKEND_GPU_PROBE_H
#define KMM__BACKEND_GPU_PROBE_H

#include "backend/gpu/driver.h"

/* Whether memory can be mapped into address space: maps three frames, copies across their borders,
 * and gives everything back. The device is current. */
bool kmm__gpu_can_map(kmm__gpu_t *gpu);

#endif
