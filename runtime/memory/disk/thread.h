/* SPDX-License-Identifier: Apache-2.0 */
/* The disk's thread. It reads and writes pages and releases their memory. */
#ifndef KMM__MEMORY_DISK_THREAD_H
#define KMM__MEMORY_DISK_THREAD_H

#include "memory/disk/page.h"

int kmm__disk_thread_start(kmm__spill_t *p); /* returns 0 or an error with its text */
void kmm__disk_thread_stop(kmm__spill_t *p); /* not locked; ends it once its queues are empty */

#endif
