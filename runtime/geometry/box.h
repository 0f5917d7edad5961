/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes: half-open intervals in one to four dimensions. Pure functions: no locks, no I/O. */
#ifndef KMM__GEOMETRY_BOX_H
#define KMM__GEOMETRY_BOX_H

#include <stdbool.h>
#include <stdint.h>

enum { KMM__DIMS = 4 };

/* A half-open box [lo, hi) in `dims` dimensions, outermost first. Empty when any hi <= lo. Unused
 * dimensions are zero, so that boxes compare with kmm__box_equal's memberwise rule. */
typedef struct kmm__box {
    uint32_t dims;
    int64_t lo[KMM__DIMS], hi[KMM__DIMS];
} kmm__box_t;

bool kmm__box_empty(const kmm__box_t *a);
bool kmm__box_equal(const kmm__box_t *a, const kmm__box_t *b);
bool kmm__box_overlaps(const kmm__box_t *a, const kmm__box_t *b);
bool kmm__box_contains(const kmm__box_t *outer,
                       const kmm__box_t *inner); /* an empty inner is contained */
kmm__box_t kmm__box_intersect(const kmm__box_t *a, const kmm__box_t *b);
kmm__box_t kmm__box_hull(const kmm__box_t *a,
                         const kmm__box_t *b); /* an empty one does not count */
int64_t kmm__box_volume_of(const kmm__box_t *a);
static inline int64_t kmm__box_volume(const kmm__box_t *a)
{
    if (a->dims != 1)
        return kmm__box_volume_of(a);
    return a->hi[0] > a->lo[0] ? a->hi[0] - a->lo[0] : 0;
}
/* a minus b as at most 2 * dims disjoint boxes; returns their number. */
int kmm__box_subtract(const kmm__box_t *a, const kmm__box_t *b, kmm__box_t out[2 * KMM__DIMS]);

#endif
