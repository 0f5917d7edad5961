/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many devices copy from and to the host's memory at once. Where many do, its nodes or the
 * buses reach less together than with fewer. Nothing here is called with the runtime's lock held,
 * but for kmm__links_state.
 */
#ifndef KMM__MEMORY_HOST_LINKS_H
#define KMM__MEMORY_HOST_LINKS_H

#include "backend/device.h"

/* KMM_LINKS: "auto", so many, or 0: all that there are. */
int kmm__links_start(kmm_runtime_t *rt);
void kmm__links_stop(
    kmm_runtime_t *rt); /* when no more work can come to devices, whose streams are still there */

/* Whether anybody counts now. */
bool kmm__links_count(const kmm_runtime_t *rt);
/* Waits until d may copy: before `bytes` of a copy from or to the host are enqueued for it, all
 * that the copy waits for on the device being done. Until kmm__links_leave the caller waits for
 * nothing that may wait here. Where somebody counts. False: nobody does any more, and there is
 * nothing to leave. */
bool kmm__links_enter(kmm__device_t *d, uint64_t bytes);
/* That has been enqueued on the stream, which the caller may use. */
void kmm__links_leave(kmm__device_t *d, kmm__stream_t *s);

/* How many may copy at once, and of how many; false: all may. */
bool kmm__links_state(kmm_runtime_t *rt, uint32_t *most, uint32_t *count);

#endif
