/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of copies to devices. A source has the contents of one page: it is the page itself,
 * pinned, or a buffer into which the page is read because there is no room for it in memory.
 */
#ifndef KMM__MEMORY_DISK_SOURCE_H
#define KMM__MEMORY_DISK_SOURCE_H

#include "memory/disk/page.h"

typedef struct kmm__page_source {
    kmm__page_t *page;           /* NULL: nothing */
    kmm__spill_buffer_t *buffer; /* NULL: the page itself is pinned */
    char *base;   /* where byte 0 of the array would be; set by kmm__page_source_await */
    bool missing; /* nobody has it: it cannot be provided */
} kmm__page_source_t;

/* Locked: a copy of the box is planned (given), or it is over. Until then its pages are kept or
 * written, even if the coherence map says that the host no longer holds them. */
void kmm__pages_plan_read(kmm__array_t *a, const kmm__layout_t *layout, const kmm__box_t *box,
                          bool given);

/* ---- Not locked ---- */
/* Begins to provide the page at a byte of an array. Unless `waits`, gives up when that needs a
 * buffer and none is free, and returns false. Never fails otherwise. */
bool kmm__page_source_begin(kmm__array_t *a, int64_t offset, bool waits, kmm__page_source_t *out);
/* Waits until it is there. 0, or an error with its text, and it has ended. The backend is who will
 * copy it. */
int kmm__page_source_await(kmm__page_source_t *s, kmm__backend_t *backend);
void kmm__page_source_end(kmm__page_source_t *s); /* nothing reads it any more */

#endif
