/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of bytes of an array, and the bytes that an item names for a chunk of one sample. */
#ifndef KMMCC_ANALYZE_BYTESET_H
#define KMMCC_ANALYZE_BYTESET_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/sample.h"
#include "pragma/directive.h"

/* Ascending intervals. They are disjoint and do not touch once byteset_sort has run. */
typedef struct region {
    struct interval {
        int64_t begin, end;
    } *at;
    int count, capacity;
    bool all; /* every byte, or too many intervals to keep */
} byteset_t;

void byteset_add(byteset_t *r, int64_t begin, int64_t end);
void byteset_sort(byteset_t *r);
/* True if the set has all of [begin, end). */
bool byteset_has(const byteset_t *r, int64_t begin, int64_t end);
/* True if the set has a byte that `other` lacks. *at receives the first such byte. */
bool byteset_exceeds(const byteset_t *r, const byteset_t *other, int64_t *at);
void byteset_clear(byteset_t *r);
/* How many bytes of [begin, end) a sorted region has. */
int64_t byteset_count(const byteset_t *r, int64_t begin, int64_t end);

typedef struct chunk_box {
    int64_t begin[KMM_MAX_AXES], end[KMM_MAX_AXES]; /* the range of each axis */
} chunk_box_t;
/* Adds the bytes that the item names for the chunk, whose base is at byte `base`. False: they
 * cannot be computed. */
bool byteset_of_item(sample_t *s, const item_t *item, const chunk_box_t *box, int64_t base,
                     byteset_t *r);
/* Returns in *lower the first index that the item names for one value of each axis, in elements
 * from its base. False: the item does not have exactly one section. */
bool byteset_lower(sample_t *s, const item_t *item, const int64_t *axis, int64_t *lower);
/* Returns the size of an element of the item, in bytes. */
int64_t byteset_element(const item_t *item);
/* Returns in *bytes the size of the item's whole shape. False: it has no shape, or the size cannot
 * be computed. */
bool byteset_extent(sample_t *s, const item_t *item, int64_t *bytes);

#endif
