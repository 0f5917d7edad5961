/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: how the elements of an array lie in memory. Pure functions: no locks, no I/O. */
#ifndef KMM__GEOMETRY_LAYOUT_H
#define KMM__GEOMETRY_LAYOUT_H

#include "geometry/box.h"

/* How the elements of an array lie in memory, in bytes: dimension d of the box has stride[d], the
 * last one has stride 1 (it counts bytes). Element 0,0,..,0 lies at byte `origin` (<= 0) of the
 * array, and only bytes [0, bytes) exist: a layout may begin and end with a partial row. */
typedef struct kmm__layout {
    uint32_t dims;
    int64_t extent[KMM__DIMS]; /* extent[dims-1] is in bytes */
    int64_t stride[KMM__DIMS]; /* stride[dims-1] == 1; stride[d] == stride[d+1] * extent[d+1] */
    int64_t origin;
    int64_t bytes;
} kmm__layout_t;

/* One dimension, `bytes` long. */
static inline kmm__layout_t kmm__layout_flat(int64_t bytes)
{
    return (kmm__layout_t){.dims = 1, .extent = {bytes}, .stride = {1}, .bytes = bytes};
}
/* The layout in which a row-major `extent` (elements, outermost first, `dims` of them) of
 * `element_bytes` each begins at byte `offset` of an array of `bytes`. Dimension 0 is extended both
 * ways so that it covers all bytes. */
kmm__layout_t kmm__layout_make(uint32_t dims, const int64_t *extent, int64_t element_bytes,
                               int64_t offset, int64_t bytes);
bool kmm__layout_equal(const kmm__layout_t *a, const kmm__layout_t *b);
/* The box of all elements. */
static inline kmm__box_t kmm__layout_whole(const kmm__layout_t *l)
{
    kmm__box_t whole = {.dims = l->dims};
    for (uint32_t d = 0; d < l->dims; d++)
        whole.hi[d] = l->extent[d];
    return whole;
}
/* The bytes that a box occupies, clipped to the array: one run when contiguous. */
bool kmm__layout_contiguous(const kmm__layout_t *l, const kmm__box_t *b, int64_t *begin,
                            int64_t *end);
/* The hull of a box's bytes, [*begin, *end), clipped. */
void kmm__layout_hull(const kmm__layout_t *l, const kmm__box_t *b, int64_t *begin, int64_t *end);
/* The bytes [begin, end) as at most 2 * dims - 1 disjoint boxes; returns their number. */
int kmm__layout_split(const kmm__layout_t *l, int64_t begin, int64_t end,
                      kmm__box_t out[2 * KMM__DIMS]);

/* A box as copies: `count` rows of `width` bytes at the array's bytes offset + k * pitch.
 * fn is called once for each; boxes of up to 2 non-contiguous dimensions need one call, more need
 * one for each outer index. Clipped to the array's bytes. Stops at and returns fn's first nonzero.
 */
typedef struct kmm__rows {
    int64_t offset, width, pitch, count;
} kmm__rows_t;
int kmm__layout_rows(const kmm__layout_t *l, const kmm__box_t *b,
                     int (*fn)(void *ctx, const kmm__rows_t *rows), void *ctx);

#endif
