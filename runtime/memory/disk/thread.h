/* SPDX-License-Identifier: Apache-2.0 */
/* The disk's thread: it reads pages, writes them, and gives their memory back. */
#ifndef KMM__MEMORY_DISK_THREAD_H
#define KMM__MEMORY_DISK_THREAD_H

#include "memory/disk/page.h"

int kmm__disk_thread_start(kmm__spill_t *p); /* 0 or an error with its text */
void kmm__disk_thread_stop(kmm__spill_t *p); /* not locked; does what is queued first */

#endif
