/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape maps: maps over an array whose boxes are those of one layout at a time.
 *
 * A region of another layout is translated to the map's layout if the region is contiguous.
 * Otherwise the map is converted to the region's layout.
 */
#ifndef KMM__GEOMETRY_SHAPE_MAP_H
#define KMM__GEOMETRY_SHAPE_MAP_H

#include "geometry/layout.h"
#include "geometry/map.h"

typedef struct kmm__shape_map {
    kmm__layout_t layout; /* layout of the map's boxes */
    kmm__map_t *map;
} kmm__shape_map_t;

/* Translates the region `box` of `layout` to boxes of the map's layout, at most 2 * KMM__DIMS of
 * them. Converts the map to `layout` where no such boxes exist. Returns their number. */
int kmm__shape_map_boxes_of(kmm__shape_map_t *m, const kmm__map_ops_t *ops, void *ctx,
                            const kmm__layout_t *layout, const kmm__box_t *box,
                            kmm__box_t out[2 * KMM__DIMS]);

/* The same, inline for maps and regions of one dimension, as most are. */
static inline int kmm__shape_map_boxes(kmm__shape_map_t *m, const kmm__map_ops_t *ops, void *ctx,
                                       const kmm__layout_t *layout, const kmm__box_t *box,
                                       kmm__box_t out[2 * KMM__DIMS])
{
    /* all layouts of one dimension over an array are equal */
    if (m->layout.dims > 1 || layout->dims > 1)
        return kmm__shape_map_boxes_of(m, ops, ctx, layout, box, out);
    out[0] = *box;
    return 1;
}

#endif
