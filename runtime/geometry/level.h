/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels: what a map (geometry/map.h) is made of, for map.c and level.c alone. A map is a nest of
 * levels, one for each dimension, outermost first. A level covers its dimension with intervals:
 * interval k begins at its own key and ends at the next one's. In the last dimension the cell of an
 * interval is a value, in the others a level of the next dimension. Intervals lie in sorted blocks
 * of bounded size, so that inserting one moves little.
 *
 * `d` is the dimension of the level l throughout. Functions that change the number of cells count
 * it in the map.
 */
#ifndef KMM__GEOMETRY_LEVEL_H
#define KMM__GEOMETRY_LEVEL_H

#include <string.h>

#include "geometry/map.h"

enum { KMM__BLOCK_INTERVALS = 32 };

typedef struct kmm__map_block {
    uint32_t count;
    int64_t key[KMM__BLOCK_INTERVALS]; /* sorted, across blocks too */
    unsigned char data[];              /* KMM__BLOCK_INTERVALS cells */
} kmm__map_block_t;

typedef struct kmm__level {
    kmm__map_block_t **blocks; /* none is empty */
    uint32_t count, capacity;
    uint32_t hint, at; /* the block, and the interval in it, that were found last */
    int64_t end;       /* of the last interval */
} kmm__level_t;

struct kmm__map {
    kmm__map_ops_t ops;
    void *ctx;
    kmm__box_t whole;
    kmm__level_t *root;
    size_t cells;   /* number of them, in all levels */
    size_t join_at; /* neighbours are joined when there are more cells than this */
    size_t visits;  /* leaves updated since then, but for the first of each call */
};

/* Of an interval in a level: the number of its block, and its number in that. */
typedef struct kmm__position {
    uint32_t block, entry;
} kmm__position_t;

/* Whether the cells of dimension d are values. */
static inline bool kmm__is_last(const kmm__map_t *m, uint32_t d)
{
    /* The second is never true alone; it tells compilers where recursion ends. */
    return d + 1 == m->whole.dims || d + 1 >= KMM__DIMS;
}

static inline size_t kmm__cell_bytes(const kmm__map_t *m, uint32_t d)
{
    return kmm__is_last(m, d) ? (m->ops.value_bytes + 7) & ~(size_t)7 : sizeof(kmm__level_t *);
}

/* The cell of the interval at p. */
static inline void *kmm__cell(const kmm__map_t *m, uint32_t d, const kmm__level_t *l,
                              kmm__position_t p)
{
    return l->blocks[p.block]->data + p.entry * kmm__cell_bytes(m, d);
}

static inline kmm__level_t *kmm__level_child(const kmm__map_t *m, uint32_t d, const kmm__level_t *l,
                                             kmm__position_t p)
{
    kmm__level_t *c;
    memcpy(&c, kmm__cell(m, d, l, p), sizeof(c));
    return c;
}

/* Where the interval at p begins. */
static inline int64_t kmm__key_at(const kmm__level_t *l, kmm__position_t p)
{
    return l->blocks[p.block]->key[p.entry];
}

static inline bool kmm__at_end(const kmm__level_t *l, kmm__position_t p)
{
    return p.block == l->count;
}

static inline kmm__position_t kmm__next(const kmm__level_t *l, kmm__position_t p)
{
    if (++p.entry == l->blocks[p.block]->count)
        p = (kmm__position_t){p.block + 1, 0};
    return p;
}

/* Where the interval at p ends. */
static inline int64_t kmm__end_of(const kmm__level_t *l, kmm__position_t p)
{
    kmm__position_t n = kmm__next(l, p);
    return kmm__at_end(l, n) ? l->end : kmm__key_at(l, n);
}

/* Makes *dst, raw memory, a copy of a value. */
static inline void kmm__value_copy(const kmm__map_t *m, void *dst, const void *src)
{
    if (m->ops.copy)
        m->ops.copy(m->ctx, dst, src);
    else
        memcpy(dst, src, m->ops.value_bytes);
}

/* Frees a level, all below it, and their values. */
void kmm__level_free(kmm__map_t *m, uint32_t d, kmm__level_t *l);
/* A level, and all below it, with a copy of one value everywhere. NULL: out of memory. */
kmm__level_t *kmm__level_uniform(kmm__map_t *m, uint32_t d, const void *value);
/* Drops what the cell at p holds: the value, or the level below. */
void kmm__cell_drop(kmm__map_t *m, uint32_t d, const kmm__level_t *l, kmm__position_t p);

/* Cuts the interval at *p in two at x, which lies inside of it, and makes *p the position of the
 * second part. Positions behind it change. 0 or KMM_E_MEMORY. */
int kmm__level_cut(kmm__map_t *m, uint32_t d, kmm__level_t *l, kmm__position_t *p, int64_t x);
/* Removes an interval that is not the first; the one before it grows over its range. Returns the
 * position of the interval that followed it. */
kmm__position_t kmm__level_swallow(kmm__map_t *m, uint32_t d, kmm__level_t *l, kmm__position_t p);

/* Settles all values, and joins equal neighbours of a level and of all below it. */
void kmm__level_join(kmm__map_t *m, uint32_t d, kmm__level_t *l);
/* The number of leaves below. */
size_t kmm__level_leaves(const kmm__map_t *m, uint32_t d, const kmm__level_t *l);
/* Whether the intervals of a level, and of all below it, are sorted, not empty, and cover it; adds
 * the number of their cells to *cells. */
bool kmm__level_is_valid(const kmm__map_t *m, uint32_t d, const kmm__level_t *l, size_t *cells);

#endif
