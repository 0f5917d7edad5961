/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps from the elements of a box to values. Pure data structures: no locks, no I/O.
 *
 * A map holds a value of `value_bytes` bytes for every element of a box. Elements with one value
 * form a leaf: a box and a value. Leaves are disjoint and cover the map's box.
 *
 * A map is a nest of sorted interval maps, one level for each dimension (geometry/level.h). Finding
 * a leaf takes O(log n) for each level. A sequential sweep finds each next leaf in O(1).
 *
 * Updates cut leaves. Equal neighbours are joined only when there are many leaves, or when updates
 * have visited so many leaves that joining pays. So a map that is cut in the same places again and
 * again stays cut.
 *
 * `copy` and `drop` let a value own what it refers to. All functions of kmm__map_ops_t are called
 * with the map's ctx.
 */
#ifndef KMM__GEOMETRY_MAP_H
#define KMM__GEOMETRY_MAP_H

#include <stddef.h>

#include "geometry/box.h"

typedef struct kmm__map kmm__map_t;

typedef struct kmm__map_ops {
    size_t value_bytes;                                  /* bytes of a value */
    void (*copy)(void *ctx, void *dst, const void *src); /* to raw memory; NULL: memcpy */
    void (*drop)(void *ctx, void *value);                /* ends a value; NULL: nothing to do */
    /* True if neighbours with these values may become one leaf. NULL: memcmp decides. */
    bool (*same)(void *ctx, const void *a, const void *b);
    /* Removes what no longer matters from a value; called before leaves are joined. NULL: nothing
     * to remove. */
    void (*settle)(void *ctx, void *value);
} kmm__map_ops_t;

/* Makes a map over `whole` in which every element has a copy of `initial`. */
kmm__map_t *kmm__map_create(const kmm__map_ops_t *ops, void *ctx, const kmm__box_t *whole,
                            const void *initial);
void kmm__map_destroy(kmm__map_t *m);

/* Calls fn for each leaf that overlaps `where`, with the part of it that lies in `where`. fn must
 * change neither the value nor the map. Stops at fn's first nonzero result and returns it. */
typedef int kmm__map_visit_fn(void *arg, const kmm__box_t *part, const void *value);
int kmm__map_visit(kmm__map_t *m, const kmm__box_t *where, kmm__map_visit_fn *fn, void *arg);

/* Cuts leaves at the faces of `where`. Then calls fn for each leaf inside, whose value fn may
 * change in place. fn must not call the map. Stops at the first nonzero result of fn and returns
 * it. */
typedef int kmm__map_update_fn(void *arg, const kmm__box_t *part, void *value);
int kmm__map_update(kmm__map_t *m, const kmm__box_t *where, kmm__map_update_fn *fn, void *arg);

/* Replaces all leaves in `where` by one leaf with a copy of `value`. */
void kmm__map_assign(kmm__map_t *m, const kmm__box_t *where, const void *value);

/* Joins all equal neighbours. Returns the number of leaves that are left. */
size_t kmm__map_leaves(kmm__map_t *m);

/* True if leaves are sorted and disjoint, cover the map's box, and the count of cells is right.
 * Takes time proportional to the number of leaves. */
bool kmm__map_is_valid(const kmm__map_t *m);

#endif
