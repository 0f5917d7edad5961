/* SPDX-License-Identifier: Apache-2.0 */
/* The items of a launch: the arrays that their regions are in. Called with the lock unless they
 * say otherwise. */
#ifndef KMM__LAUNCH_ITEMS_H
#define KMM__LAUNCH_ITEMS_H

#include "launch/submission.h"

/* May unlock: finds the arrays of all items, and maps host memory that is none. */
int kmm__submission_resolve(kmm__submission_t *s);
/* Not locked: returns the memory that was mapped for the launch, when its results are there. */
int kmm__submission_unmap(kmm__submission_t *s);
/* Where there is only the host's memory, what tasks use is made ready once for all of them. */
void kmm__submission_make_direct(kmm__submission_t *s);

/* Sets this thread's error text, with where the launch stands and the item in front; returns code.
 */
int kmm__submission_refuse_item(const kmm__submission_t *s, const kmm__item_t *item, int code,
                                const char *text);

#endif
