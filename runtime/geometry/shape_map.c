/* SPDX-License-Identifier: Apache-2.0 */
/* Maps over an array, whose boxes change their layout when a region of another layout needs it. */
#include "geometry/shape_map.h"

#include <stdlib.h>

#include "base/alloc.h"

/* A conversion of a map to another layout. */
typedef struct recut {
    const kmm__layout_t *from, *to;
    kmm__map_t *map;
    const void *value;
} recut_t;

static int recut_rows(void *arg, const kmm__rows_t *rows)
{
    recut_t *r = arg;
    for (int64_t k = 0; k < rows->count; k++) {
        kmm__box_t boxes[2 * KMM__DIMS];
        int64_t begin = rows->offset + k * rows->pitch;
        int n = kmm__layout_split(r->to, begin, begin + rows->width, boxes);
        for (int b = 0; b < n; b++)
            kmm__map_assign(r->map, &boxes[b], r->value);
    }
    return 0;
}

static int recut_leaf(void *arg, const kmm__box_t *part, const void *value)
{
    recut_t *r = arg;
    r->value = value;
    return kmm__layout_rows(r->from, part, recut_rows, r);
}

/* Converts the map to boxes of layout `to`: assigns each row of each leaf to a new map. */
static void shape_map_recut(kmm__shape_map_t *m, const kmm__map_ops_t *ops, void *ctx,
                            const kmm__layout_t *to)
{
    kmm__box_t old = kmm__layout_whole(&m->layout), whole = kmm__layout_whole(to);
    void *initial = kmm__alloc(ops->value_bytes);
    recut_t r = {&m->layout, to, kmm__map_create(ops, ctx, &whole, initial), NULL};
    free(initial);
    kmm__map_visit(m->map, &old, recut_leaf, &r);
    kmm__map_destroy(m->map);
    m->map = r.map;
    m->layout = *to;
}

int kmm__shape_map_boxes_of(kmm__shape_map_t *m, const kmm__map_ops_t *ops, void *ctx,
                            const kmm__layout_t *layout, const kmm__box_t *box,
                            kmm__box_t out[2 * KMM__DIMS])
{
    int64_t begin, end;
    if (!kmm__layout_equal(&m->layout, layout)) {
        if (kmm__layout_contiguous(layout, box, &begin, &end))
            return kmm__layout_split(&m->layout, begin, end, out);
        shape_map_recut(m, ops, ctx, layout);
    }
    out[0] = *box;
    return 1;
}
