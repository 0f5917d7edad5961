/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of host memory, and what happens at it.
 *
 * With a limit, an array's host buffer is a row of pages. Each page is in memory, in the spill
 * file, or in neither because the host holds nothing of it. Coherence does not tell memory from
 * disk: the host is a holder in both cases. Work on the host, and copies from and to it, pin the
 * pages they touch, which keeps these in memory. Without a limit there are no pages, and these
 * functions do nothing.
 */
#ifndef KMM__MEMORY_DISK_SPILL_H
#define KMM__MEMORY_DISK_SPILL_H

#include "memory/disk/page.h"

/* Limits host memory to `limit` bytes and opens the spill file. The devices are known. Returns 0 or
 * an error with its text. */
int kmm__spill_start(kmm_runtime_t *rt, uint64_t limit, const char *folder);
void kmm__spill_stop(kmm_runtime_t *rt); /* ends it; all arrays are freed */
/* Locked: returns statistics; all are 0 without a limit. */
void kmm__spill_stats(kmm_runtime_t *rt, kmm__spill_stats_t *out);

#endif
