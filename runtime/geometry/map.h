/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps from the elements of a box to values. Pure data structures: no locks, no I/O.
 *
 * A map holds a value for every element of a box, as disjoint leaves (a box and a value of
 * `value_bytes`). It is a nest of sorted interval maps, one level for each dimension. Finding is
 * O(log n) a level; a sequential sweep finds the next leaf in O(1). Neighbours that have become
 * equal are joined when there are many leaves, or when updates have visited enough of them to pay
 * for joining; so a map that is cut in the same places again and again stays cut. `copy` and `drop`
 * let values own what they refer to; all functions get `ctx`.
 */
#ifndef KMM__GEOMETRY_MAP_H
#define KMM__GEOMETRY_MAP_H

#include <stddef.h>

#include "geometry/box.h"

typedef struct kmm__map kmm__map_t;

typedef struct kmm__map_ops {
    size_t value_bytes;                                  /* size of a value */
    void (*copy)(void *ctx, void *dst, const void *src); /* dst is not a value yet; NULL: memcpy */
    void (*drop)(void *ctx, void *value);                /* NULL: nothing */
    /* Whether neighbours with these values may become one leaf; NULL: memcmp. */
    bool (*same)(void *ctx, const void *a, const void *b);
    /* Drops from a value what no longer matters, before leaves are joined; NULL: nothing. */
    void (*settle)(void *ctx, void *value);
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

/* Whether leaves are sorted, disjoint and cover the whole, and the count of cells is right. Walks
 * the whole map. */
bool kmm__map_is_valid(const kmm__map_t *m);

#endif
