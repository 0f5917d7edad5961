/* SPDX-License-Identifier: Apache-2.0 */
/* Which sheets go, and room for others. Functions are called with the lock. */
#ifndef KMM__MEMORY_DISK_EVICT_H
#define KMM__MEMORY_DISK_EVICT_H

#include "memory/disk/page.h"

/* Whether the host holds anything of the sheet. */
bool kmm__sheet_matters(const kmm__sheet_t *s);
/* Begins to let go of the sheet that has been idle longest; false when there is none. */
bool kmm__sheets_let_go(kmm__spill_t *p, bool unwritten_only);
/* Keeps some room ahead of who will need it. */
void kmm__sheets_let_go_ahead(kmm__spill_t *p);
/* Waits until there is room for so many bytes. 0 or an error with its text. May unlock meanwhile.
 */
int kmm__room_make(kmm__spill_t *p, uint64_t bytes);

#endif
