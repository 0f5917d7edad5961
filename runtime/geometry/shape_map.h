/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map over an array, in boxes of one layout at a time. A region of another layout is said in
 * bytes if it is contiguous; otherwise the map is cut anew into boxes of the region's layout.
 */
#ifndef KMM__GEOMETRY_SHAPE_MAP_H
#define KMM__GEOMETRY_SHAPE_MAP_H

#include "geometry/layout.h"
#include "geometry/map.h"

typedef struct kmm__shape_map {
    kmm__layout_t layout; /* whose boxes the map is made of */
    kmm__map_t *map;
} kmm__shape_map_t;

/* The region `box` of `layout` as boxes of the map's layout, at most 2 * KMM__DIMS of them. Cuts
 * the map anew where no boxes can say it. Returns their number, or a negative error. */
int kmm__shape_map_boxes_of(kmm__shape_map_t *m, const kmm__map_ops_t *ops, void *ctx,
                            const kmm__layout_t *layout, const kmm__box_t *box,
                            kmm__box_t out[2 * KMM__DIMS]);

/* The same; quick for arrays that have one dimension everywhere, as most do. */
static inline int kmm__shape_map_boxes(kmm__shape_map_t *m, const kmm__map_ops_t *ops, void *ctx,
                                       const kmm__layout_t *layout, const kmm__box_t *box,
                                       kmm__box_t out[2 * KMM__DIMS])
{
    if (m->layout.dims > 1 || layout->dims > 1) /* an array has one flat layout */
        return kmm__shape_map_boxes_of(m, ops, ctx, layout, box, out);
    out[0] = *box;
    return 1;
}

#endif
