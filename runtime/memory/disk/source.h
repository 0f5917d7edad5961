/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of copies to devices. A source has the contents of one page. It is the page itself,
 * pinned; or, if there is no room for the page in memory, a buffer into which the page is read. */
#ifndef KMM__MEMORY_DISK_SOURCE_H
#define KMM__MEMORY_DISK_SOURCE_H

#include "memory/disk/page.h"

typedef struct kmm__page_source {
    kmm__page_t *page;           /* NULL: no source */
    kmm__spill_buffer_t *buffer; /* NULL: the page itself is pinned */
    char *base;   /* address at which byte 0 of the array would be; set by kmm__page_source_await */
    bool missing; /* no space has its contents, so it cannot be provided */
} kmm__page_source_t;

/* Locked: counts a planned read of the box's pages; `given` false: uncounts it. While a read is
 * planned, pages are kept or written, even if the coherence map no longer names the host as a
 * holder. */
void kmm__pages_plan_read(kmm__array_t *a, const kmm__layout_t *layout, const kmm__box_t *box,
                          bool given);

/* ---- Not locked ---- */
/* Begins to provide the page at byte `offset` of an array. With `waits` false, returns false if
 * that needs a buffer and none is free. Otherwise returns true. */
bool kmm__page_source_begin(kmm__array_t *a, int64_t offset, bool waits, kmm__page_source_t *out);
/* Waits until the source has its contents. `backend` is the one that will copy them. Returns 0; or
 * an error with its text, and the source has ended. */
int kmm__page_source_await(kmm__page_source_t *s, kmm__backend_t *backend);
void kmm__page_source_end(kmm__page_source_t *s); /* ends the source; nothing reads it any more */

#endif
