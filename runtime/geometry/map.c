/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on maps: visiting, updating and assigning. Each descends the levels (geometry/level.h)
 * with the box it is called for. In each level the search begins at the interval that was found
 * last, so that a sweep finds its next leaf in O(1). */
#include "geometry/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/valid.h"
#include "geometry/level.h"

enum {
    JOIN_FIRST = 1024,    /* cells above which equal neighbours are first joined */
    JOIN_LATER = 1 << 16, /* the bound doubles at each such join up to this */
    VISITS_PER_JOIN = 4   /* joining pays after so many updated leaves for each cell */
};

/* ---- Finding ---- */

static bool block_has(const kmm__level_t *l, uint32_t k, int64_t x)
{
    return k < l->count && l->blocks[k]->key[0] <= x &&
           (k + 1 == l->count || x < l->blocks[k + 1]->key[0]);
}

static uint32_t block_find(kmm__level_t *l, int64_t x)
{
    uint32_t lo = 0, hi = l->count;
    if (block_has(l, l->hint, x))
        return l->hint;
    if (block_has(l, l->hint + 1, x))
        return ++l->hint;
    while (hi - lo > 1) {
        uint32_t middle = (lo + hi) / 2;
        if (l->blocks[middle]->key[0] <= x)
            lo = middle;
        else
            hi = middle;
    }
    return l->hint = lo;
}

/* Finds the interval that contains x, which lies in the level. Tries the interval behind the one
 * found last first. */
static kmm__position_t find(kmm__level_t *l, int64_t x)
{
    uint32_t hint = l->hint, k = block_find(l, x), lo = 0, e = k == hint ? l->at + 1 : 0;
    const kmm__map_block_t *b = l->blocks[k];
    if (e < b->count && b->key[e] <= x && (e + 1 == b->count || x < b->key[e + 1])) {
        l->at = e;
        return (kmm__position_t){k, e};
    }
    for (uint32_t n = b->count; n > 1;) {
        uint32_t half = n / 2;
        if (b->key[lo + half] <= x)
            lo += half;
        n -= half;
    }
    l->at = lo;
    return (kmm__position_t){k, lo};
}

/* Joins equal neighbours if the map has more than join_at cells, or if updates have visited more
 * than VISITS_PER_JOIN leaves for each cell. join_at grows at each join for too many cells, because
 * a map that is cut in the same places again and again is better left cut. */
static void join_now_and_then(kmm__map_t *m)
{
    bool too_many = m->cells > m->join_at;
    if (!too_many && m->visits <= VISITS_PER_JOIN * m->cells)
        return;
    kmm__level_join(m, 0, m->root);
    m->visits = 0;
    if (too_many && m->join_at < JOIN_LATER)
        m->join_at *= 2;
    if (m->join_at < 2 * m->cells)
        m->join_at = 2 * m->cells;
}

/* ---- The operations ---- */

/* One call of an operation: the box that it is for, and the part reached so far. */
typedef struct walk {
    kmm__map_t *map;
    const kmm__box_t *where;
    kmm__box_t part;
    int (*visit)(void *arg, const kmm__box_t *part, const void *value);
    int (*update)(void *arg, const kmm__box_t *part, void *value);
    const void *value;
    void *arg;
} walk_t;

/* Visits the leaves in w->where of a level of the last dimension. */
static int visit_cells(walk_t *w, uint32_t d, kmm__level_t *l)
{
    int64_t lo = w->where->lo[d], hi = w->where->hi[d];
    size_t size = kmm__cell_bytes(w->map, d);
    kmm__position_t p = find(l, lo);
    int64_t begin = lo;
    for (uint32_t k = p.block, e = p.entry; begin < hi; k++, e = 0) {
        const kmm__map_block_t *b = l->blocks[k];
        int64_t block_end = k + 1 < l->count ? l->blocks[k + 1]->key[0] : l->end;
        for (; e < b->count && begin < hi; e++) {
            int64_t end = e + 1 < b->count ? b->key[e + 1] : block_end;
            w->part.lo[d] = begin;
            w->part.hi[d] = end > hi ? hi : end;
            int result = w->visit(w->arg, &w->part, b->data + e * size);
            if (result)
                return result;
            begin = end;
        }
    }
    return 0;
}

static int visit_level(walk_t *w, uint32_t d, kmm__level_t *l)
{
    int64_t lo = w->where->lo[d], hi = w->where->hi[d];
    if (kmm__is_last(w->map, d))
        return visit_cells(w, d, l);
    for (kmm__position_t p = find(l, lo); !kmm__at_end(l, p) && kmm__key_at(l, p) < hi;
         p = kmm__next(l, p)) {
        int64_t end = kmm__end_of(l, p);
        w->part.lo[d] = kmm__key_at(l, p) < lo ? lo : kmm__key_at(l, p);
        w->part.hi[d] = end > hi ? hi : end;
        int result = visit_level(w, d + 1, kmm__level_child(w->map, d, l, p));
        if (result)
            return result;
    }
    return 0;
}

/* Cuts a level at lo and at hi where no interval begins yet. Sets *first to the position of the
 * interval that begins at lo. */
static void cut_out(kmm__map_t *m, uint32_t d, kmm__level_t *l, int64_t lo, int64_t hi,
                    kmm__position_t *first)
{
    kmm__position_t p = find(l, lo);
    if (kmm__key_at(l, p) < lo)
        kmm__level_cut(m, d, l, &p, lo);
    int64_t end = kmm__end_of(l, p);
    *first = p;
    if (end == hi || hi >= l->end)
        return;
    uint32_t blocks = l->count;
    if (end < hi)
        p = find(l, hi);
    if (kmm__key_at(l, p) < hi)
        kmm__level_cut(m, d, l, &p, hi);
    if (l->count != blocks) /* a block was split: *first may have moved to the new block */
        *first = find(l, lo);
}

static int update_level(walk_t *w, uint32_t d, kmm__level_t *l)
{
    int64_t lo = w->where->lo[d], hi = w->where->hi[d];
    kmm__position_t p;
    int result = 0;
    cut_out(w->map, d, l, lo, hi, &p);
    for (; !result && !kmm__at_end(l, p) && kmm__key_at(l, p) < hi; p = kmm__next(l, p)) {
        w->part.lo[d] = kmm__key_at(l, p);
        w->part.hi[d] = kmm__end_of(l, p);
        w->map->visits += kmm__key_at(l, p) > lo;
        result = kmm__is_last(w->map, d)
                     ? w->update(w->arg, &w->part, kmm__cell(w->map, d, l, p))
                     : update_level(w, d + 1, kmm__level_child(w->map, d, l, p));
    }
    return result;
}

/* True if w->where covers the whole map in all dimensions below d. */
static bool covers_below(const walk_t *w, uint32_t d)
{
    for (uint32_t k = d + 1; k < w->map->whole.dims; k++)
        if (w->where->lo[k] > w->map->whole.lo[k] || w->where->hi[k] < w->map->whole.hi[k])
            return false;
    return true;
}

/* Sets all elements in the interval at p to the value, in all dimensions below too. */
static void cell_assign(walk_t *w, uint32_t d, kmm__level_t *l, kmm__position_t p)
{
    kmm__map_t *m = w->map;
    if (kmm__is_last(m, d)) {
        unsigned char copy[kmm__cell_bytes(m, d)];
        kmm__value_copy(m, copy, w->value);
        kmm__cell_drop(m, d, l, p);
        memcpy(kmm__cell(m, d, l, p), copy, m->ops.value_bytes);
        return;
    }
    kmm__level_t *c = kmm__level_uniform(m, d + 1, w->value);
    kmm__cell_drop(m, d, l, p);
    memcpy(kmm__cell(m, d, l, p), &c, sizeof(c));
}

static void assign_level(walk_t *w, uint32_t d, kmm__level_t *l)
{
    int64_t lo = w->where->lo[d], hi = w->where->hi[d];
    kmm__position_t p;
    cut_out(w->map, d, l, lo, hi, &p);
    if (!covers_below(w, d)) {
        for (; !kmm__at_end(l, p) && kmm__key_at(l, p) < hi; p = kmm__next(l, p))
            assign_level(w, d + 1, kmm__level_child(w->map, d, l, p));
        return;
    }
    cell_assign(w, d, l, p);
    for (kmm__position_t n = kmm__next(l, p); !kmm__at_end(l, n) && kmm__key_at(l, n) < hi;)
        n = kmm__level_swallow(w->map, d, l, n);
}

/* ---- The interface ---- */

kmm__map_t *kmm__map_create(const kmm__map_ops_t *ops, void *ctx, const kmm__box_t *whole,
                            const void *initial)
{
    kmm__map_t *m = kmm__alloc(sizeof(*m));
    m->ops = *ops;
    m->ctx = ctx;
    m->whole = *whole;
    m->join_at = JOIN_FIRST;
    m->root = kmm__level_uniform(m, 0, initial);
    return m;
}

void kmm__map_destroy(kmm__map_t *m)
{
    kmm__level_free(m, 0, m->root);
    free(m);
}

/* True if a box is not empty and lies in the map, so that no intersection is needed. */
static bool is_inside(const kmm__map_t *m, const kmm__box_t *b)
{
    bool inside = b->dims == m->whole.dims;
    for (uint32_t d = 0; d < m->whole.dims && inside; d++)
        inside = b->lo[d] >= m->whole.lo[d] && b->hi[d] <= m->whole.hi[d] && b->lo[d] < b->hi[d];
    return inside;
}

/* The cell of the interval that equals b in a map of one dimension. NULL: there is none. Launches
 * that come again with the same chunks find their leaves this way. */
static unsigned char *exact_cell(const kmm__map_t *m, const kmm__box_t *b)
{
    kmm__level_t *l = m->root;
    if (m->whole.dims != 1 || b->dims != 1 || b->lo[0] < m->whole.lo[0] ||
        b->hi[0] > m->whole.hi[0] || b->lo[0] >= b->hi[0])
        return NULL;
    kmm__position_t p = find(l, b->lo[0]);
    return kmm__key_at(l, p) == b->lo[0] && kmm__end_of(l, p) == b->hi[0] ? kmm__cell(m, 0, l, p)
                                                                          : NULL;
}

int kmm__map_visit(kmm__map_t *m, const kmm__box_t *where, kmm__map_visit_fn *fn, void *arg)
{
    const void *exact = exact_cell(m, where);
    if (exact)
        return fn(arg, where, exact);
    kmm__box_t inside;
    if (!is_inside(m, where)) {
        inside = kmm__box_intersect(where, &m->whole);
        where = &inside;
    }
    walk_t w = {.map = m, .where = where, .visit = fn, .arg = arg, .part = {.dims = m->whole.dims}};
    return kmm__box_empty(where) ? 0 : visit_level(&w, 0, m->root);
}

int kmm__map_update(kmm__map_t *m, const kmm__box_t *where, kmm__map_update_fn *fn, void *arg)
{
    void *exact = exact_cell(m, where);
    if (exact)
        return fn(arg, where, exact);
    kmm__box_t inside;
    if (!is_inside(m, where)) {
        inside = kmm__box_intersect(where, &m->whole);
        where = &inside;
    }
    walk_t w = {
        .map = m, .where = where, .update = fn, .arg = arg, .part = {.dims = m->whole.dims}};
    int result = kmm__box_empty(where) ? 0 : update_level(&w, 0, m->root);
    join_now_and_then(m);
    KMM__ASSERT_SOMETIMES(kmm__map_is_valid(m));
    return result;
}

void kmm__map_assign(kmm__map_t *m, const kmm__box_t *where, const void *value)
{
    kmm__box_t inside = kmm__box_intersect(where, &m->whole);
    walk_t w = {.map = m, .where = &inside, .value = value};
    if (!kmm__box_empty(&inside))
        assign_level(&w, 0, m->root);
    join_now_and_then(m);
    KMM__ASSERT_SOMETIMES(kmm__map_is_valid(m));
}

size_t kmm__map_leaves(kmm__map_t *m)
{
    kmm__level_join(m, 0, m->root);
    return kmm__level_leaves(m, 0, m->root);
}

bool kmm__map_is_valid(const kmm__map_t *m)
{
    size_t cells = 0;
    return kmm__level_is_valid(m, 0, m->root, &cells) && cells == m->cells;
}
