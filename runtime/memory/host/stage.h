/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of ordinary memory through page-locked buffers. Nothing here is called with the runtime's
 * lock held. */
#ifndef KMM__MEMORY_HOST_STAGE_H
#define KMM__MEMORY_HOST_STAGE_H

#include "memory/host/stager.h"

/* `rows` runs of `width` bytes, `pitch` apart on both sides. In: the host's memory has been read
 * when kmm__stage_finish returns, and must be the newest by now. Out: it is written when what
 * kmm__stage_notify was given has been called. Waits for buffers. */
int kmm__stage_copy(kmm__stage_t *t, kmm__addr_t at, char *host, int64_t width, int64_t pitch,
                    int64_t rows);
/* Everything has been enqueued behind this, if the result is 0. */
int kmm__stage_finish(kmm__stage_t *t);

/* Waits until nothing is on its way out to these bytes of the host: before anything else reads or
 * writes them. */
void kmm__stage_await(kmm_runtime_t *rt, const char *begin, const char *end);

#endif
