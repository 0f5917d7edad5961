/* SPDX-License-Identifier: Apache-2.0 */
/* What the host reads of arrays by itself, for launches that read more than their items. */
#ifndef KMM__LAUNCH_COPY_H
#define KMM__LAUNCH_COPY_H

#include "memory/array.h"

/* Waits for the writers of bytes [begin, end) and brings their newest values to the host. Returns 0
 * or an error with its text. The caller holds the lock, which is released meanwhile, and a
 * reference. */
int kmm__bytes_to_host(kmm_runtime_t *rt, kmm__array_t *a, int64_t begin, int64_t end);

#endif
