/* SPDX-License-Identifier: Apache-2.0 */
/* Planning: computes the region of an item in a chunk. */
#ifndef KMM__LAUNCH_PLAN_H
#define KMM__LAUNCH_PLAN_H

#include "launch/builder.h"
#include "launch/partition.h"

/* Returns 1 if out is the region, 0 if the region is empty, negative for an error with its text
 * set. out's layout is the array's flat one or *shaped. */
int kmm__plan(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *chunk,
              kmm__access_t *out, kmm__layout_t *shaped);
/* True if the item's region depends on the chunk: an axis is in its sections, and it is no
 * reduction, whose private copies have all of the target. */
bool kmm__plan_varies(const kmm__item_t *item, uint32_t axis_count);
/* True if the region of a whole launch lies so far outside of the item's array that an offset of it
 * must have wrapped. */
bool kmm__plan_is_far(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *whole);
/* Computes the byte range, relative to base, that an item can touch. For host memory that is not
 * in an array yet. */
int kmm__plan_reach(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *whole,
                    int64_t *begin, int64_t *end);
/* Computes the bytes, relative to base, from the first to the last byte of the whole launch's
 * region. False: the region is empty, or its length is the array's. */
bool kmm__plan_hull(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *whole,
                    int64_t *begin, int64_t *end);

#endif
