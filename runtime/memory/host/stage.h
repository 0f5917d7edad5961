/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of ordinary memory through page-locked buffers. Nothing here is called with the runtime's
 * lock held. */
#ifndef KMM__STAGE_H
#define KMM__STAGE_H

#include "backend/device.h"
#include "memory/host/costs.h"

int kmm__stage_start(kmm_runtime_t *rt);
/* When no more work can come to devices, whose streams are still there. */
void kmm__stage_stop(kmm_runtime_t *rt);

/* Whether copies from and to this device are made through buffers at all. */
bool kmm__stage_works(kmm__device_t *d);
/* How many times its size of a block of an array of `bytes` is copied through them before it is
 * page-locked: by what both cost, which a large array has measured unless an earlier process has
 * done so. Only where copies through buffers work. */
double kmm__stage_times(kmm__device_t *d, uint64_t bytes);
/* What they cost; false: that is not known. */
bool kmm__stage_costs(kmm_runtime_t *rt, kmm__copy_costs_t *out, double *times);

/* Copies between a device and the host that are enqueued on one stream of it. Zeroed, but for the
 * first three, at first. */
typedef struct kmm__stage {
    kmm__device_t *device;
    kmm__stream_t *stream;
    bool is_out;
    uint32_t filling; /* in: pieces that a thread is copying to a buffer */
    uint32_t filled;  /* in: pieces that have yet to be enqueued */
} kmm__stage_t;

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

/* Calls fn when all that was enqueued on d->out, which is locked, is over and at the host; like the
 * backend's notify. */
int kmm__stage_notify(kmm__device_t *d, void (*fn)(void *arg, int status), void *arg);

#endif
