/* SPDX-License-Identifier: Apache-2.0 */
/* Turns: how many devices copy from and to host memory at once. If many do, the host's memory nodes
 * or buses may carry less in all than if few do. Functions are called without the runtime's lock,
 * but for kmm__links_state. */
#ifndef KMM__MEMORY_HOST_LINKS_H
#define KMM__MEMORY_HOST_LINKS_H

#include "backend/device.h"

/* Starts turns as KMM_LINKS says: "auto"; a number of devices; or 0, which lets all devices copy at
 * once. Returns 0 or an error with its text. */
int kmm__links_start(kmm_runtime_t *rt);
void kmm__links_stop(
    kmm_runtime_t *rt); /* ends turns; no more work comes to devices, whose streams still exist */

/* True if turns are counted now. */
bool kmm__links_count(const kmm_runtime_t *rt);
/* Waits until d has a turn. Called before a copy of `bytes` bytes from or to the host is enqueued
 * for d; all that the copy waits for on the device is done. Until kmm__links_leave, the caller must
 * not wait for anything that may wait for a turn. False: turns are no longer counted, and
 * kmm__links_leave must not be called. Only called if kmm__links_count. */
bool kmm__links_enter(kmm__device_t *d, uint64_t bytes);
/* Called when that copy has been enqueued on the stream, whose lock the caller holds. */
void kmm__links_leave(kmm__device_t *d, kmm__stream_t *s);

/* Sets the number of devices that may copy at once, and the number of devices. False: all may. */
bool kmm__links_state(kmm_runtime_t *rt, uint32_t *most, uint32_t *count);

#endif
