/* SPDX-License-Identifier: Apache-2.0 */
/* The items of a launch: finds the arrays that their regions are in. The caller holds the lock
 * unless a function says otherwise. */
#ifndef KMM__LAUNCH_ITEMS_H
#define KMM__LAUNCH_ITEMS_H

#include "launch/submission.h"

/* Finds the arrays of all items, and maps host memory that is not in an array. May release the
 * lock meanwhile. */
int kmm__submission_resolve(kmm__submission_t *s);
/* Called without the lock. Unmaps the memory that was mapped for the launch when its results
 * have arrived there. */
int kmm__submission_unmap(kmm__submission_t *s);
/* If all arrays of the launch lie in host memory and stay there, writes their addresses into the
 * arguments once for all tasks. */
void kmm__submission_make_direct(kmm__submission_t *s);

/* Sets this thread's error text, prefixed by the launch's location and the item. Returns code. */
int kmm__submission_refuse_item(const kmm__submission_t *s, const kmm__item_t *item, int code,
                                const char *text);
/* The same, of a reduction that cannot be planned; item may be the number of items: none of them is
 * the reason. */
int kmm__submission_refuse_reduction(const kmm__submission_t *s, uint32_t item, int code);

#endif
