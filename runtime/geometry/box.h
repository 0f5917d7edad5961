/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes: sets of index tuples, one half-open interval in each of one to four dimensions. Pure
 * functions: no locks, no I/O. */
#ifndef KMM__GEOMETRY_BOX_H
#define KMM__GEOMETRY_BOX_H

#include <stdbool.h>
#include <stdint.h>

enum { KMM__DIMS = 4 };

/* All index tuples x with lo[d] <= x[d] < hi[d] in each dimension d < dims; dimension 0 is the
 * outermost. A box with hi[d] <= lo[d] in any dimension is empty. Functions ignore lo[d] and hi[d]
 * for d >= dims. Functions of two boxes expect that both have the same dims. */
typedef struct kmm__box {
    uint32_t dims;
    int64_t lo[KMM__DIMS], hi[KMM__DIMS];
} kmm__box_t;

/* True if the box has no element. */
bool kmm__box_empty(const kmm__box_t *a);
/* True if both have the same dims and bounds. Empty boxes with different bounds are not equal. */
bool kmm__box_equal(const kmm__box_t *a, const kmm__box_t *b);
/* True if some element is in both. */
bool kmm__box_overlaps(const kmm__box_t *a, const kmm__box_t *b);
/* True if every element of inner is in outer. An empty inner is in every box. */
bool kmm__box_contains(const kmm__box_t *outer, const kmm__box_t *inner);
/* The elements that are in both. An empty result has lo <= hi in each dimension. */
kmm__box_t kmm__box_intersect(const kmm__box_t *a, const kmm__box_t *b);
/* The smallest box that contains both. An empty box adds nothing to it. */
kmm__box_t kmm__box_hull(const kmm__box_t *a, const kmm__box_t *b);
/* Number of elements in the box. */
int64_t kmm__box_volume_of(const kmm__box_t *a);
static inline int64_t kmm__box_volume(const kmm__box_t *a)
{
    if (a->dims != 1)
        return kmm__box_volume_of(a);
    return a->hi[0] > a->lo[0] ? a->hi[0] - a->lo[0] : 0;
}
/* Writes a minus b to out, as at most 2 * dims disjoint boxes. Returns their number. */
int kmm__box_subtract(const kmm__box_t *a, const kmm__box_t *b, kmm__box_t out[2 * KMM__DIMS]);

#endif
