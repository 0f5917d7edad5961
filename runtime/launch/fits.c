/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of what kmmcc has inferred of a launch. A sum is linear in each axis, so it is least
 * and greatest at the ends of the axes.
 */
#include "launch/fits.h"

typedef __int128 wide_t;

/* The values of an axis, from *lo to *hi. False: it has none. */
static bool ends_of(const kmm_launch_t *l, const kmm__axis_t *a, kmm_reach_t reach,
                    const kmm_geometry_t *g, wide_t *lo, wide_t *hi)
{
    uint32_t d = (uint32_t)a->source % KMM_MAX_SPLIT;
    wide_t last = (wide_t)g->grid[d] * (a->source <= KMM_GLOBAL_Z ? g->block[d] : 1) - 1;
    bool whole = a->length == KMM_WHOLE;
    *lo = whole ? 0 : a->lower;
    *hi = whole ? last : (wide_t)a->lower + a->length - 1;
    if (l->bounded && *hi > last)
        *hi = last;
    if (reach == KMM_IN_GRID) {
        *lo = *lo > 0 ? 0 : *lo;
        *hi = *hi < last ? last : *hi;
    }
    return *lo <= *hi;
}

static bool is_held(const kmm_launch_t *l, const kmm__fits_t *f, const kmm_geometry_t *g)
{
    static const struct {
        int64_t least, most;
    } limits[] = {[KMM_INT8] = {INT8_MIN, INT8_MAX},    [KMM_INT16] = {INT16_MIN, INT16_MAX},
                  [KMM_INT32] = {INT32_MIN, INT32_MAX}, [KMM_INT64] = {INT64_MIN, INT64_MAX},
                  [KMM_UINT8] = {0, UINT8_MAX},         [KMM_UINT16] = {0, UINT16_MAX},
                  [KMM_UINT32] = {0, UINT32_MAX}};
    wide_t least = f->constant, most = f->constant, lo, hi;
    if ((unsigned)f->type > KMM_UINT32)
        return false;
    for (uint32_t k = 0; k < l->axis_count; k++) {
        wide_t by = f->coef[k];
        if (by == 0)
            continue;
        if (!ends_of(l, &l->axis[k], f->reach, g, &lo, &hi))
            return true; /* no thread computes it */
        least += by * (by > 0 ? lo : hi);
        most += by * (by > 0 ? hi : lo);
    }
    return least >= limits[f->type].least && most <= limits[f->type].most;
}

bool kmm__fits_hold(const kmm_launch_t *l, const kmm_geometry_t *geometry)
{
    for (uint32_t k = 0; k < l->fits_count; k++)
        if (!is_held(l, &l->fits[k], geometry))
            return false;
    return !l->undone;
}
