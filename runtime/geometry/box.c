/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes as sets. */
#include "geometry/box.h"

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool kmm__box_empty(const kmm__box_t *a)
{
    for (uint32_t d = 0; d < a->dims; d++)
        if (a->hi[d] <= a->lo[d])
            return true;
    return a->dims == 0;
}

bool kmm__box_equal(const kmm__box_t *a, const kmm__box_t *b)
{
    for (uint32_t d = 0; d < a->dims; d++)
        if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d])
            return false;
    return a->dims == b->dims;
}

bool kmm__box_overlaps(const kmm__box_t *a, const kmm__box_t *b)
{
    for (uint32_t d = 0; d < a->dims; d++)
        if (max64(a->lo[d], b->lo[d]) >= min64(a->hi[d], b->hi[d]))
            return false;
    return a->dims > 0;
}

bool kmm__box_contains(const kmm__box_t *outer, const kmm__box_t *inner)
{
    if (kmm__box_empty(inner))
        return true;
    for (uint32_t d = 0; d < outer->dims; d++)
        if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d])
            return false;
    return true;
}

kmm__box_t kmm__box_intersect(const kmm__box_t *a, const kmm__box_t *b)
{
    kmm__box_t out = {.dims = a->dims};
    for (uint32_t d = 0; d < a->dims; d++) {
        out.lo[d] = max64(a->lo[d], b->lo[d]);
        out.hi[d] = max64(out.lo[d], min64(a->hi[d], b->hi[d]));
    }
    return out;
}

kmm__box_t kmm__box_hull(const kmm__box_t *a, const kmm__box_t *b)
{
    if (kmm__box_empty(a))
        return *b;
    if (kmm__box_empty(b))
        return *a;
    kmm__box_t out = {.dims = a->dims};
    for (uint32_t d = 0; d < a->dims; d++) {
        out.lo[d] = min64(a->lo[d], b->lo[d]);
        out.hi[d] = max64(a->hi[d], b->hi[d]);
    }
    return out;
}

int64_t kmm__box_volume_of(const kmm__box_t *a)
{
    int64_t volume = 1;
    if (kmm__box_empty(a))
        return 0;
    for (uint32_t d = 0; d < a->dims; d++)
        volume *= a->hi[d] - a->lo[d];
    return volume;
}

int kmm__box_subtract(const kmm__box_t *a, const kmm__box_t *b, kmm__box_t out[2 * KMM__DIMS])
{
    kmm__box_t rest = *a;
    int n = 0;
    if (kmm__box_empty(a))
        return 0;
    if (!kmm__box_overlaps(a, b)) {
        out[0] = *a;
        return 1;
    }
    /* Each dimension cuts off the slice of `rest` below b and the slice above b. What remains at
     * the end lies inside b, and is dropped. */
    for (uint32_t d = 0; d < a->dims; d++) {
        if (rest.lo[d] < b->lo[d]) {
            out[n] = rest;
            out[n++].hi[d] = b->lo[d];
            rest.lo[d] = b->lo[d];
        }
        if (rest.hi[d] > b->hi[d]) {
            out[n] = rest;
            out[n++].lo[d] = b->hi[d];
            rest.hi[d] = b->hi[d];
        }
    }
    return n;
}
