/* SPDX-License-Identifier: Apache-2.0 */
/* Eviction of pages, and room for pages. All functions are called with the runtime's lock. */
#ifndef KMM__MEMORY_DISK_EVICT_H
#define KMM__MEMORY_DISK_EVICT_H

#include "memory/disk/page.h"

/* True if the host holds the newest value of some element of the page. */
bool kmm__page_matters(const kmm__page_t *s);
/* Begins to evict an idle page, the longest unused first. `unwritten_only`: one that need not be
 * written. False: there is none. */
bool kmm__pages_evict(kmm__spill_t *p, bool unwritten_only);
/* Evicts early: evicts pages before a thread waits for their room. */
void kmm__pages_evict_early(kmm__spill_t *p);
/* Waits until there is room for so many bytes. Returns 0 or an error with its text. May unlock
 * meanwhile. */
int kmm__room_make(kmm__spill_t *p, uint64_t bytes);

#endif
