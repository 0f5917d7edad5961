/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: where the elements of an array lie in memory. Pure functions: no locks, no I/O. */
#ifndef KMM__GEOMETRY_LAYOUT_H
#define KMM__GEOMETRY_LAYOUT_H

#include "geometry/box.h"

/*
 * A row-major shape over the bytes of an array. Its boxes count bytes in the last dimension and
 * indices in all others.
 *
 * Index (0, ..., 0) lies at byte `origin` of the array, which is 0 or negative. Only bytes 0 <= b <
 * `bytes` exist, so the first and the last row of a layout may be partial.
 */
typedef struct kmm__layout {
    uint32_t dims;
    int64_t extent[KMM__DIMS]; /* number of indices; of the last dimension, bytes */
    /* bytes; stride[dims-1] == 1, stride[d] == stride[d+1] * extent[d+1] */
    int64_t stride[KMM__DIMS];
    int64_t origin;
    int64_t bytes;
} kmm__layout_t;

/* The layout of one dimension: box [a, b) is bytes a to b. */
static inline kmm__layout_t kmm__layout_flat(int64_t bytes)
{
    return (kmm__layout_t){.dims = 1, .extent = {bytes}, .stride = {1}, .bytes = bytes};
}
/* The layout of an array of `bytes` bytes in which a row-major block of elements begins at byte
 * `offset`. The block has extent[d] elements of `element_bytes` in each of `dims` dimensions.
 * Dimension 0 is extended in both directions until the layout covers all bytes of the array. */
kmm__layout_t kmm__layout_make(uint32_t dims, const int64_t *extent, int64_t element_bytes,
                               int64_t offset, int64_t bytes);
bool kmm__layout_equal(const kmm__layout_t *a, const kmm__layout_t *b);
/* The box of all the layout's elements. */
static inline kmm__box_t kmm__layout_whole(const kmm__layout_t *l)
{
    kmm__box_t whole = {.dims = l->dims};
    for (uint32_t d = 0; d < l->dims; d++)
        whole.hi[d] = l->extent[d];
    return whole;
}
/* True if the box's bytes are one contiguous run, which is then written to [*begin, *end), clipped
 * to the array. */
bool kmm__layout_contiguous(const kmm__layout_t *l, const kmm__box_t *b, int64_t *begin,
                            int64_t *end);
/* Writes the smallest range of bytes that contains the box, clipped to the array, to [*begin,
 * *end). */
void kmm__layout_hull(const kmm__layout_t *l, const kmm__box_t *b, int64_t *begin, int64_t *end);
/* Writes the bytes [begin, end), clipped to the array, to out, as at most 2 * dims - 1 disjoint
 * boxes. Returns their number. */
int kmm__layout_split(const kmm__layout_t *l, int64_t begin, int64_t end,
                      kmm__box_t out[2 * KMM__DIMS]);

/* `count` runs of `width` bytes: run k begins at byte offset + k * pitch of the array. */
typedef struct kmm__rows {
    int64_t offset, width, pitch, count;
} kmm__rows_t;
/* Calls fn with the bytes of a box, clipped to the array, as rows that one 2-D copy can move. One
 * call covers the two innermost dimensions that are not contiguous in memory. There is one call for
 * each index of the dimensions outside of these. Clipping adds a call for each partial row. Stops
 * at the first nonzero result of fn and returns it. */
int kmm__layout_rows(const kmm__layout_t *l, const kmm__box_t *b,
                     int (*fn)(void *ctx, const kmm__rows_t *rows), void *ctx);

#endif
