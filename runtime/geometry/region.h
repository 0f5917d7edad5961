/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes, and maps from the elements of a box to values. Pure data structures: no locks, no I/O. */
#ifndef KMM__REGION_H
#define KMM__REGION_H

#include <stdbool.h>
#include <stddef.h>
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

/* ---- Maps ----
 * A map holds a value for every element of a box, as disjoint leaves (a box and a value of
 * `value_bytes`). It is a nest of sorted interval maps, one level for each dimension. Finding is
 * O(log n) a level; a sequential sweep finds the next leaf in O(1). Neighbours that have become the
 * same are joined now and then: when there are many, or as many have been visited as joining costs.
 * So a map that is cut in the same places again and again is left as it is. Values own what they
 * refer to through the three functions; `ctx` is passed to them.
 */
typedef struct kmm__map kmm__map_t;

typedef struct kmm__map_ops {
    size_t value_bytes;
    void (*copy)(void *ctx, void *dst, const void *src); /* dst is raw memory; NULL: memcpy */
    void (*drop)(void *ctx, void *value);                /* NULL: nothing */
    bool (*same)(void *ctx, const void *a,
                 const void *b); /* equal values of neighbours may be one leaf; NULL: memcmp */
    void (*settle)(
        void *ctx,
        void *value); /* forgets what no longer matters, before leaves are joined; NULL: nothing */
} kmm__map_ops_t;

/* A map over `whole` in which every element has (a copy of) `initial`. NULL when out of memory. */
kmm__map_t *kmm__map_create(const kmm__map_ops_t *ops, void *ctx, const kmm__box_t *whole,
                            const void *initial);
void kmm__map_destroy(kmm__map_t *m);

/* Calls fn for each leaf that overlaps `where`, with the part inside it. The value may be read, not
 * written. fn must not change the map. Stops at and returns fn's first nonzero. */
typedef int kmm__map_visit_fn(void *arg, const kmm__box_t *part, const void *value);
int kmm__map_visit(kmm__map_t *m, const kmm__box_t *where, kmm__map_visit_fn *fn, void *arg);

/* Cuts leaves at the faces of `where`, then calls fn for each leaf inside, whose value fn may
 * change in place. fn must not call the map. Returns fn's first nonzero, or KMM_E_MEMORY. */
typedef int kmm__map_update_fn(void *arg, const kmm__box_t *part, void *value);
int kmm__map_update(kmm__map_t *m, const kmm__box_t *where, kmm__map_update_fn *fn, void *arg);

/* Gives all elements of `where` (a copy of) one value, as one leaf. Returns 0 or KMM_E_MEMORY. */
int kmm__map_assign(kmm__map_t *m, const kmm__box_t *where, const void *value);

/* Joins all neighbours that are the same, and counts what is left. */
size_t kmm__map_leaves(kmm__map_t *m);

/* Leaves are disjoint, cover the whole, and are sorted. For tests and assertions. */
bool kmm__map_is_valid(const kmm__map_t *m);

#endif
