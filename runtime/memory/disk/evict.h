/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages go, and room for others. Functions are called with the lock. */
#ifndef KMM__MEMORY_DISK_EVICT_H
#define KMM__MEMORY_DISK_EVICT_H

#include "memory/disk/page.h"

/* Whether the host holds anything of the page. */
bool kmm__page_matters(const kmm__page_t *s);
/* Begins to let go of the page that has been idle longest; false when there is none. */
bool kmm__pages_evict(kmm__spill_t *p, bool unwritten_only);
/* Keeps some room ahead of who will need it. */
void kmm__pages_evict_early(kmm__spill_t *p);
/* Waits until there is room for so many bytes. 0 or an error with its text. May unlock meanwhile.
 */
int kmm__room_make(kmm__spill_t *p, uint64_t bytes);

#endif
