/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of copies to devices. One sheet's contents for one copy or some: the sheet itself, or a
 * buffer into which it is read when there is no room for it in memory.
 */
#ifndef KMM__MEMORY_DISK_SOURCE_H
#define KMM__MEMORY_DISK_SOURCE_H

#include "memory/disk/page.h"

typedef struct kmm__source {
    kmm__sheet_t *sheet;   /* NULL: nothing */
    kmm__buffer_t *buffer; /* NULL: the sheet itself is held */
    char *base;            /* where byte 0 of the array would be; set by kmm__source_await */
    bool missing;          /* nobody has it: it cannot be provided */
} kmm__source_t;

/* Locked: what a planned copy will read must be kept, whatever becomes of its elements; until the
 * promise is taken back. */
void kmm__spill_promise(kmm__array_t *a, const kmm__layout_t *layout, const kmm__box_t *box,
                        bool given);

/* ---- Not locked ---- */
/* Begins to provide the sheet at a byte of an array. Unless `waits`, gives up when that needs a
 * buffer and none is free, and returns false. Never fails otherwise. */
bool kmm__source_begin(kmm__array_t *a, int64_t offset, bool waits, kmm__source_t *out);
/* Waits until it is there. 0, or an error with its text, and it has ended. The backend is who will
 * copy it. */
int kmm__source_await(kmm__source_t *s, kmm__backend_t *backend);
void kmm__source_end(kmm__source_t *s); /* nothing reads it any more */

#endif
