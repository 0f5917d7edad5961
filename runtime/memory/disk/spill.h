/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of host memory, and what happens at it.
 *
 * With a limit, an array's host buffer is a row of pages. A page is in memory or it is not; one
 * that is not may be stored in the spill file. The coherence map knows nothing of it: "the host
 * holds it" means in memory or on disk. Work on the host, copies to the host and copies from it
 * hold the pages they touch, which keeps these in memory. Without a limit there are no pages, and
 * all of this does nothing.
 */
#ifndef KMM__MEMORY_DISK_SPILL_H
#define KMM__MEMORY_DISK_SPILL_H

#include "memory/disk/page.h"

/* Limits host memory to `limit` bytes and opens the file. The devices are known. 0 or an error with
 * its text. */
int kmm__spill_start(kmm_runtime_t *rt, uint64_t limit, const char *folder);
void kmm__spill_stop(kmm_runtime_t *rt); /* all arrays are gone */
/* Locked; zeroes without a limit. */
void kmm__spill_stats(kmm_runtime_t *rt, kmm__spill_stats_t *out);

#endif
