/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels: the interval maps of which a map (geometry/map.h) is built. Only map.c and level.c
 * include this header.
 *
 * A map is a nest of levels, one for each dimension, outermost first. A level divides its dimension
 * into intervals. Interval k begins at key k and ends where interval k + 1 begins. Each interval
 * has a cell. In the last dimension the cell is a value; in the others it is a level of the next
 * dimension.
 *
 * The intervals of a level lie in sorted blocks of bounded size, so that inserting one moves few
 * others.
 *
 * In all functions `d` is the dimension of the level l. Functions that make or remove cells keep
 * the map's count of cells.
 */
#ifndef KMM__GEOMETRY_LEVEL_H
#define KMM__GEOMETRY_LEVEL_H

#include <string.h>

#include "geometry/map.h"

enum { KMM__BLOCK_INTERVALS = 32 };

typedef struct kmm__map_block {
    uint32_t count;
    /* begin of each interval; ascending within and across blocks */
    int64_t key[KMM__BLOCK_INTERVALS];
    unsigned char data[]; /* KMM__BLOCK_INTERVALS cells, kmm__cell_bytes each */
} kmm__map_block_t;

typedef struct kmm__level {
    kmm__map_block_t **blocks; /* sorted; none is empty */
    uint32_t count, capacity;
    uint32_t hint, at; /* block, and interval in it, that were found last */
    int64_t end;       /* end of the last interval */
} kmm__level_t;

struct kmm__map {
    kmm__map_ops_t ops;
    void *ctx;
    kmm__box_t whole;
    kmm__level_t *root;
    size_t cells;   /* cells in all levels */
    size_t join_at; /* equal neighbours are joined above this number of cells */
    size_t visits;  /* leaves updated since the last join, not counting the first of each update */
};

/* The position of an interval: its block in the level, and its index in the block. */
typedef struct kmm__position {
    uint32_t block, entry;
} kmm__position_t;

/* True if the cells of dimension d are values. */
static inline bool kmm__is_last(const kmm__map_t *m, uint32_t d)
{
    /* The second condition never decides; it tells compilers where recursion ends. */
    return d + 1 == m->whole.dims || d + 1 >= KMM__DIMS;
}

/* Bytes of a cell in dimension d. */
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

/* The level below the interval at p; d is not the last dimension. */
static inline kmm__level_t *kmm__level_child(const kmm__map_t *m, uint32_t d, const kmm__level_t *l,
                                             kmm__position_t p)
{
    kmm__level_t *c;
    memcpy(&c, kmm__cell(m, d, l, p), sizeof(c));
    return c;
}

/* The begin of the interval at p. */
static inline int64_t kmm__key_at(const kmm__level_t *l, kmm__position_t p)
{
    return l->blocks[p.block]->key[p.entry];
}

/* True if p is behind the last interval. */
static inline bool kmm__at_end(const kmm__level_t *l, kmm__position_t p)
{
    return p.block == l->count;
}

/* The position behind p. */
static inline kmm__position_t kmm__next(const kmm__level_t *l, kmm__position_t p)
{
    if (++p.entry == l->blocks[p.block]->count)
        p = (kmm__position_t){p.block + 1, 0};
    return p;
}

/* The end of the interval at p. */
static inline int64_t kmm__end_of(const kmm__level_t *l, kmm__position_t p)
{
    kmm__position_t n = kmm__next(l, p);
    return kmm__at_end(l, n) ? l->end : kmm__key_at(l, n);
}

/* Copies a value to *dst, which is raw memory. */
static inline void kmm__value_copy(const kmm__map_t *m, void *dst, const void *src)
{
    if (m->ops.copy)
        m->ops.copy(m->ctx, dst, src);
    else
        memcpy(dst, src, m->ops.value_bytes);
}

/* Frees a level, all levels below it, and their values. */
void kmm__level_free(kmm__map_t *m, uint32_t d, kmm__level_t *l);
/* Makes a level of one interval, and one such level in each dimension below, with a copy of the
 * value. */
kmm__level_t *kmm__level_uniform(kmm__map_t *m, uint32_t d, const void *value);
/* Drops the value, or frees the level, in the cell at p. */
void kmm__cell_drop(kmm__map_t *m, uint32_t d, const kmm__level_t *l, kmm__position_t p);

/* Cuts the interval at *p at x, which lies strictly inside it, and sets *p to the position of the
 * second half. Both halves have the old value. Positions behind *p become invalid. */
void kmm__level_cut(kmm__map_t *m, uint32_t d, kmm__level_t *l, kmm__position_t *p, int64_t x);
/* Removes the interval at p, which is not the level's first. The interval before it grows to the
 * removed one's end. Returns the position of the interval that followed. */
kmm__position_t kmm__level_swallow(kmm__map_t *m, uint32_t d, kmm__level_t *l, kmm__position_t p);

/* Calls `settle` for all values of a level and the levels below it. Then joins neighbours that are
 * the same. */
void kmm__level_join(kmm__map_t *m, uint32_t d, kmm__level_t *l);
/* Number of leaves in a level and the levels below it. */
size_t kmm__level_leaves(const kmm__map_t *m, uint32_t d, const kmm__level_t *l);
/* True if the intervals of a level and of all levels below it ascend, are not empty, and cover
 * their dimension. Adds the number of their cells to *cells. */
bool kmm__level_is_valid(const kmm__map_t *m, uint32_t d, const kmm__level_t *l, size_t *cells);

#endif
