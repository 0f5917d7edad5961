/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of ordinary memory through staging buffers. Functions are called without the runtime's
 * lock. */
#ifndef KMM__MEMORY_HOST_STAGE_H
#define KMM__MEMORY_HOST_STAGE_H

#include "memory/host/stager.h"

/* Copies `rows` runs of `width` bytes, which lie `pitch` bytes apart on both sides. Copies in: the
 * host's memory must be the newest now, and has been read when kmm__stage_finish returns. Copies
 * out: the host's memory has been written when a notification by kmm__stage_notify is called. Waits
 * for buffers. Returns 0 or an error. */
int kmm__stage_copy(kmm__stage_t *t, kmm__addr_t at, char *host, int64_t width, int64_t pitch,
                    int64_t rows);
/* Enqueues all that is left of the copies. Returns 0 or an error. */
int kmm__stage_finish(kmm__stage_t *t);

/* Waits until no copy out is on its way to these bytes of the host. Called before anything else
 * reads or writes them. */
void kmm__stage_await(kmm_runtime_t *rt, const char *begin, const char *end);

#endif
