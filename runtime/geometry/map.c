/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map is a nest of levels, one for each dimension. A level covers its dimension with intervals:
 * interval k begins at its own key and ends at the next one's. In the last dimension an interval
 * has a value, in the others a level of the next dimension. Intervals lie in sorted blocks of
 * bounded size, so inserting moves little; the block found last is tried first, so sweeps are
 * quick. Functions that change the number of cells count it in the map, which is const to them
 * otherwise.
 */
#include "geometry/map.h"

#include <stdlib.h>
#include <string.h>

#include <kmm/error.h>

#include "geometry/region.h"

enum { BLOCK = 32, JOIN_FIRST = 1024, JOIN_LATER = 1 << 16, VISITS_PER_JOIN = 4 };

typedef struct block {
    uint32_t count;
    int64_t key[BLOCK];
    unsigned char data[]; /* BLOCK cells */
} block_t;

typedef struct level {
    block_t **blocks; /* none is empty */
    uint32_t count, capacity, hint,
        at; /* the block, and the interval in it, that were found last */
    int64_t end;
} level_t;

struct kmm__map {
    kmm__map_ops_t ops;
    void *ctx;
    kmm__box_t whole;
    level_t *root;
    size_t cells;   /* of all levels */
    size_t join_at; /* join when there are more cells */
    size_t visits;  /* leaves updated since the last time, beyond the first of each call */
};

typedef struct place {
    uint32_t block, entry;
} place_t;

/* ---- Cells ---- */

static bool is_last(const kmm__map_t *m, uint32_t d)
{
    return d + 1 == m->whole.dims ||
           d + 1 >= KMM__DIMS; /* the latter never: compilers that unroll recursion need to know */
}

static size_t cell_bytes(const kmm__map_t *m, uint32_t d)
{
    return is_last(m, d) ? (m->ops.value_bytes + 7) & ~(size_t)7 : sizeof(level_t *);
}

static void *cell(const kmm__map_t *m, uint32_t d, const level_t *l, place_t p)
{
    return l->blocks[p.block]->data + p.entry * cell_bytes(m, d);
}

static level_t *child(const kmm__map_t *m, uint32_t d, const level_t *l, place_t p)
{
    level_t *c;
    memcpy(&c, cell(m, d, l, p), sizeof(c));
    return c;
}

static int64_t key_at(const level_t *l, place_t p)
{
    return l->blocks[p.block]->key[p.entry];
}

static bool at_end(const level_t *l, place_t p)
{
    return p.block == l->count;
}

static place_t next(const level_t *l, place_t p)
{
    if (++p.entry == l->blocks[p.block]->count)
        p = (place_t){p.block + 1, 0};
    return p;
}

static int64_t end_of(const level_t *l, place_t p)
{
    place_t n = next(l, p);
    return at_end(l, n) ? l->end : key_at(l, n);
}

static void level_free(kmm__map_t *m, uint32_t d, level_t *l);

static void cell_drop(kmm__map_t *m, uint32_t d, const level_t *l, place_t p)
{
    if (!is_last(m, d))
        level_free(m, d + 1, child(m, d, l, p));
    else if (m->ops.drop)
        m->ops.drop(m->ctx, cell(m, d, l, p));
}

static void value_copy(const kmm__map_t *m, void *dst, const void *src)
{
    if (m->ops.copy)
        m->ops.copy(m->ctx, dst, src);
    else
        memcpy(dst, src, m->ops.value_bytes);
}

/* ---- Levels ---- */

static void level_free(kmm__map_t *m, uint32_t d, level_t *l)
{
    for (place_t p = {0, 0}; !at_end(l, p); p = next(l, p))
        cell_drop(m, d, l, p);
    for (uint32_t k = 0; k < l->count; k++) {
        m->cells -= l->blocks[k]->count;
        free(l->blocks[k]);
    }
    free(l->blocks);
    free(l);
}

static block_t *block_new(const kmm__map_t *m, uint32_t d)
{
    return calloc(1, sizeof(block_t) + BLOCK * cell_bytes(m, d));
}

/* One interval, [lo, hi) of the whole, whose cell is not set yet. */
static level_t *level_new(kmm__map_t *m, uint32_t d)
{
    level_t *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->capacity = 1;
    l->blocks = calloc(1, sizeof(*l->blocks));
    block_t *b = l->blocks ? block_new(m, d) : NULL;
    if (!b) {
        free(l->blocks);
        free(l);
        return NULL;
    }
    b->count = 1;
    b->key[0] = m->whole.lo[d];
    l->blocks[0] = b;
    l->count = 1;
    l->end = m->whole.hi[d];
    m->cells++;
    return l;
}

/* A level, and all below it, with one value. */
static level_t *level_uniform(kmm__map_t *m, uint32_t d, const void *value)
{
    level_t *l = level_new(m, d);
    if (!l)
        return NULL;
    if (is_last(m, d)) {
        value_copy(m, l->blocks[0]->data, value);
        return l;
    }
    level_t *c = level_uniform(m, d + 1, value);
    if (!c) {
        free(l->blocks[0]);
        free(l->blocks);
        free(l);
        m->cells--;
        return NULL;
    }
    memcpy(l->blocks[0]->data, &c, sizeof(c));
    return l;
}

static level_t *level_copy(kmm__map_t *m, uint32_t d, const level_t *l);

/* Copies a cell to raw memory. */
static int cell_copy(kmm__map_t *m, uint32_t d, void *dst, const level_t *l, place_t p)
{
    if (is_last(m, d)) {
        value_copy(m, dst, cell(m, d, l, p));
        return 0;
    }
    level_t *c = level_copy(m, d + 1, child(m, d, l, p));
    if (!c)
        return KMM_E_MEMORY;
    memcpy(dst, &c, sizeof(c));
    return 0;
}

static level_t *level_copy(kmm__map_t *m, uint32_t d, const level_t *l)
{
    level_t *out = calloc(1, sizeof(*out));
    if (!out)
        return NULL;
    out->blocks = calloc(l->count, sizeof(*out->blocks));
    out->capacity = out->blocks ? l->count : 0;
    out->end = l->end;
    bool ok = out->blocks != NULL;
    for (uint32_t k = 0; k < l->count && ok; k++) {
        block_t *b = block_new(m, d);
        if (!(ok = b != NULL))
            break;
        out->blocks[out->count++] = b;
        for (uint32_t e = 0; e < l->blocks[k]->count && ok; e++) {
            ok = cell_copy(m, d, b->data + e * cell_bytes(m, d), l, (place_t){k, e}) == 0;
            b->key[e] = l->blocks[k]->key[e];
            b->count += ok;
            m->cells += ok;
        }
        if (b->count == 0) {
            free(b);
            out->count--;
        }
    }
    if (ok)
        return out;
    level_free(m, d, out);
    return NULL;
}

static size_t level_leaves(const kmm__map_t *m, uint32_t d, const level_t *l)
{
    size_t n = 0;
    for (place_t p = {0, 0}; !at_end(l, p); p = next(l, p))
        n += is_last(m, d) ? 1 : level_leaves(m, d + 1, child(m, d, l, p));
    return n;
}

/* ---- Finding ---- */

static bool block_has(const level_t *l, uint32_t k, int64_t x)
{
    return k < l->count && l->blocks[k]->key[0] <= x &&
           (k + 1 == l->count || x < l->blocks[k + 1]->key[0]);
}

static uint32_t block_find(level_t *l, int64_t x)
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

/* The interval that contains x, which lies in the level. The one behind that found last is tried
 * first. */
static place_t find(level_t *l, int64_t x)
{
    uint32_t hint = l->hint, k = block_find(l, x), lo = 0, e = k == hint ? l->at + 1 : 0;
    const block_t *b = l->blocks[k];
    if (e < b->count && b->key[e] <= x && (e + 1 == b->count || x < b->key[e + 1])) {
        l->at = e;
        return (place_t){k, e};
    }
    for (uint32_t n = b->count; n > 1;) {
        uint32_t half = n / 2;
        if (b->key[lo + half] <= x)
            lo += half;
        n -= half;
    }
    l->at = lo;
    return (place_t){k, lo};
}

/* ---- Inserting and removing intervals ---- */

static int block_split(const kmm__map_t *m, uint32_t d, level_t *l, uint32_t k)
{
    size_t size = cell_bytes(m, d);
    block_t *b = l->blocks[k], *upper = block_new(m, d);
    uint32_t half = b->count / 2;
    if (!upper)
        return KMM_E_MEMORY;
    if (l->count == l->capacity) {
        block_t **grown = realloc(l->blocks, 2 * l->capacity * sizeof(*grown));
        if (!grown) {
            free(upper);
            return KMM_E_MEMORY;
        }
        l->blocks = grown;
        l->capacity *= 2;
    }
    upper->count = b->count - half;
    memcpy(upper->key, b->key + half, upper->count * sizeof(*b->key));
    memcpy(upper->data, b->data + half * size, upper->count * size);
    b->count = half;
    memmove(l->blocks + k + 2, l->blocks + k + 1, (l->count - k - 1) * sizeof(*l->blocks));
    l->blocks[k + 1] = upper;
    l->count++;
    return 0;
}

/* Cuts the interval at *p so that one begins at x, inside of it, and makes *p that one's place.
 * Places behind it are others then. */
static int cut(kmm__map_t *m, uint32_t d, level_t *l, place_t *p, int64_t x)
{
    size_t size = cell_bytes(m, d);
    level_t *below = NULL;
    if (l->blocks[p->block]->count == BLOCK) {
        int error = block_split(m, d, l, p->block);
        if (error)
            return error;
        if (p->entry >= l->blocks[p->block]->count)
            *p = (place_t){p->block + 1, p->entry - l->blocks[p->block]->count};
    }
    if (!is_last(m, d) && !(below = level_copy(m, d + 1, child(m, d, l, *p))))
        return KMM_E_MEMORY;
    block_t *b = l->blocks[p->block];
    unsigned char *old = b->data + p->entry * size;
    uint32_t e = ++p->entry;
    memmove(b->key + e + 1, b->key + e, (b->count - e) * sizeof(*b->key));
    memmove(old + 2 * size, old + size, (b->count - e) * size);
    b->key[e] = x;
    if (below)
        memcpy(old + size, &below, sizeof(below));
    else
        value_copy(m, old + size, old);
    b->count++;
    m->cells++;
    return 0;
}

static void block_remove(level_t *l, uint32_t k)
{
    free(l->blocks[k]);
    memmove(l->blocks + k, l->blocks + k + 1, (l->count - k - 1) * sizeof(*l->blocks));
    l->count--;
}

/* Removes an interval that is not the first; the one before it grows over its place. Returns the
 * place of the interval that followed it. */
static place_t swallow(kmm__map_t *m, uint32_t d, level_t *l, place_t p)
{
    size_t size = cell_bytes(m, d);
    block_t *b = l->blocks[p.block];
    cell_drop(m, d, l, p);
    b->count--;
    m->cells--;
    memmove(b->key + p.entry, b->key + p.entry + 1, (b->count - p.entry) * sizeof(*b->key));
    memmove(b->data + p.entry * size, b->data + (p.entry + 1) * size, (b->count - p.entry) * size);
    if (b->count == 0) {
        block_remove(l, p.block);
        return (place_t){p.block, 0};
    }
    if (p.block + 1 < l->count && b->count + l->blocks[p.block + 1]->count <= BLOCK / 2) {
        block_t *n = l->blocks[p.block + 1];
        memcpy(b->key + b->count, n->key, n->count * sizeof(*n->key));
        memcpy(b->data + b->count * size, n->data, n->count * size);
        b->count += n->count;
        block_remove(l, p.block + 1);
    }
    return p.entry < b->count ? p : (place_t){p.block + 1, 0};
}

static bool level_same(const kmm__map_t *m, uint32_t d, const level_t *a, const level_t *b);

static bool cell_same(const kmm__map_t *m, uint32_t d, const level_t *a, place_t p,
                      const level_t *b, place_t q)
{
    if (!is_last(m, d))
        return level_same(m, d + 1, child(m, d, a, p), child(m, d, b, q));
    const void *x = cell(m, d, a, p), *y = cell(m, d, b, q);
    return m->ops.same ? m->ops.same(m->ctx, x, y) : memcmp(x, y, m->ops.value_bytes) == 0;
}

static bool level_same(const kmm__map_t *m, uint32_t d, const level_t *a, const level_t *b)
{
    place_t p = {0, 0}, q = {0, 0};
    for (; !at_end(a, p) && !at_end(b, q); p = next(a, p), q = next(b, q))
        if (key_at(a, p) != key_at(b, q) || !cell_same(m, d, a, p, b, q))
            return false;
    return at_end(a, p) && at_end(b, q);
}

/* Joins equal neighbours of a level and of all below it. */
static void level_join(kmm__map_t *m, uint32_t d, level_t *l)
{
    for (place_t p = {0, 0}; !at_end(l, p); p = next(l, p)) {
        if (!is_last(m, d))
            level_join(m, d + 1, child(m, d, l, p));
        else if (m->ops.settle)
            m->ops.settle(m->ctx, cell(m, d, l, p));
    }
    for (place_t p = {0, 0}, n; n = next(l, p), !at_end(l, n);) {
        if (!cell_same(m, d, l, p, l, n)) {
            p = n;
            continue;
        }
        swallow(m, d, l, n); /* which moves nothing before it */
    }
}

/* The next time comes later and later: what is cut anew after each join is better left cut. */
static void join_now_and_then(kmm__map_t *m)
{
    bool too_many = m->cells > m->join_at;
    if (!too_many && m->visits <= VISITS_PER_JOIN * m->cells)
        return;
    level_join(m, 0, m->root);
    m->visits = 0;
    if (too_many && m->join_at < JOIN_LATER)
        m->join_at *= 2;
    if (m->join_at < 2 * m->cells)
        m->join_at = 2 * m->cells;
}

/* ---- The operations ---- */

typedef struct walk {
    kmm__map_t *map;
    const kmm__box_t *where;
    kmm__box_t part;
    int (*visit)(void *arg, const kmm__box_t *part, const void *value);
    int (*update)(void *arg, const kmm__box_t *part, void *value);
    const void *value;
    void *arg;
} walk_t;

/* The same for the last dimension. */
static int visit_cells(walk_t *w, uint32_t d, level_t *l)
{
    int64_t lo = w->where->lo[d], hi = w->where->hi[d];
    size_t size = cell_bytes(w->map, d);
    place_t p = find(l, lo);
    int64_t begin = lo;
    for (uint32_t k = p.block, e = p.entry; begin < hi; k++, e = 0) {
        const block_t *b = l->blocks[k];
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

static int visit_level(walk_t *w, uint32_t d, level_t *l)
{
    int64_t lo = w->where->lo[d], hi = w->where->hi[d];
    if (is_last(w->map, d))
        return visit_cells(w, d, l);
    for (place_t p = find(l, lo); !at_end(l, p) && key_at(l, p) < hi; p = next(l, p)) {
        int64_t end = end_of(l, p);
        w->part.lo[d] = key_at(l, p) < lo ? lo : key_at(l, p);
        w->part.hi[d] = end > hi ? hi : end;
        int result = visit_level(w, d + 1, child(w->map, d, l, p));
        if (result)
            return result;
    }
    return 0;
}

/* Cuts at lo and hi, unless intervals begin there already; the place of the first interval inside.
 */
static int cut_out(kmm__map_t *m, uint32_t d, level_t *l, int64_t lo, int64_t hi, place_t *first)
{
    place_t p = find(l, lo);
    int error = key_at(l, p) < lo ? cut(m, d, l, &p, lo) : 0;
    int64_t end = end_of(l, p);
    *first = p;
    if (error || end == hi || hi >= l->end)
        return error;
    uint32_t blocks = l->count;
    if (end < hi)
        p = find(l, hi);
    if (key_at(l, p) < hi)
        error = cut(m, d, l, &p, hi);
    if (l->count != blocks) /* the first may be in another block now */
        *first = find(l, lo);
    return error;
}

static int update_level(walk_t *w, uint32_t d, level_t *l)
{
    int64_t lo = w->where->lo[d], hi = w->where->hi[d];
    place_t p;
    int result = cut_out(w->map, d, l, lo, hi, &p);
    for (; !result && !at_end(l, p) && key_at(l, p) < hi; p = next(l, p)) {
        w->part.lo[d] = key_at(l, p);
        w->part.hi[d] = end_of(l, p);
        w->map->visits += key_at(l, p) > lo;
        result = is_last(w->map, d) ? w->update(w->arg, &w->part, cell(w->map, d, l, p))
                                    : update_level(w, d + 1, child(w->map, d, l, p));
    }
    return result;
}

static bool covers_below(const walk_t *w, uint32_t d)
{
    for (uint32_t k = d + 1; k < w->map->whole.dims; k++)
        if (w->where->lo[k] > w->map->whole.lo[k] || w->where->hi[k] < w->map->whole.hi[k])
            return false;
    return true;
}

/* Puts the value in the interval at p, which is to have it whole. */
static int cell_assign(walk_t *w, uint32_t d, level_t *l, place_t p)
{
    kmm__map_t *m = w->map;
    if (is_last(m, d)) {
        unsigned char copy[cell_bytes(m, d)];
        value_copy(m, copy, w->value);
        cell_drop(m, d, l, p);
        memcpy(cell(m, d, l, p), copy, m->ops.value_bytes);
        return 0;
    }
    level_t *c = level_uniform(m, d + 1, w->value);
    if (!c)
        return KMM_E_MEMORY;
    cell_drop(m, d, l, p);
    memcpy(cell(m, d, l, p), &c, sizeof(c));
    return 0;
}

static int assign_level(walk_t *w, uint32_t d, level_t *l)
{
    int64_t lo = w->where->lo[d], hi = w->where->hi[d];
    place_t p;
    int result = cut_out(w->map, d, l, lo, hi, &p);
    if (result)
        return result;
    if (!covers_below(w, d)) {
        for (; !result && !at_end(l, p) && key_at(l, p) < hi; p = next(l, p))
            result = assign_level(w, d + 1, child(w->map, d, l, p));
        return result;
    }
    if ((result = cell_assign(w, d, l, p)))
        return result;
    for (place_t n = next(l, p); !at_end(l, n) && key_at(l, n) < hi;)
        n = swallow(w->map, d, l, n);
    return 0;
}

/* ---- The interface ---- */

kmm__map_t *kmm__map_create(const kmm__map_ops_t *ops, void *ctx, const kmm__box_t *whole,
                            const void *initial)
{
    kmm__map_t *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->ops = *ops;
    m->ctx = ctx;
    m->whole = *whole;
    m->join_at = JOIN_FIRST;
    m->root = level_uniform(m, 0, initial);
    if (m->root)
        return m;
    free(m);
    return NULL;
}

void kmm__map_destroy(kmm__map_t *m)
{
    level_free(m, 0, m->root);
    free(m);
}

/* Whether a box, not an empty one, lies in the map; then it need not be cut to it. */
static bool is_inside(const kmm__map_t *m, const kmm__box_t *b)
{
    bool inside = b->dims == m->whole.dims;
    for (uint32_t d = 0; d < m->whole.dims && inside; d++)
        inside = b->lo[d] >= m->whole.lo[d] && b->hi[d] <= m->whole.hi[d] && b->lo[d] < b->hi[d];
    return inside;
}

/* In one dimension: the cell of the interval that is just the box, as when the same chunks come
 * again. NULL: there is none, or more. */
static unsigned char *exact_cell(const kmm__map_t *m, const kmm__box_t *b)
{
    level_t *l = m->root;
    if (m->whole.dims != 1 || b->dims != 1 || b->lo[0] < m->whole.lo[0] ||
        b->hi[0] > m->whole.hi[0] || b->lo[0] >= b->hi[0])
        return NULL;
    place_t p = find(l, b->lo[0]);
    return key_at(l, p) == b->lo[0] && end_of(l, p) == b->hi[0] ? cell(m, 0, l, p) : NULL;
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
    return result;
}

int kmm__map_assign(kmm__map_t *m, const kmm__box_t *where, const void *value)
{
    kmm__box_t inside = kmm__box_intersect(where, &m->whole);
    walk_t w = {.map = m, .where = &inside, .value = value};
    int result = kmm__box_empty(&inside) ? 0 : assign_level(&w, 0, m->root);
    join_now_and_then(m);
    return result;
}

size_t kmm__map_leaves(kmm__map_t *m)
{
    level_join(m, 0, m->root);
    return level_leaves(m, 0, m->root);
}

static bool level_is_valid(const kmm__map_t *m, uint32_t d, const level_t *l)
{
    int64_t at = m->whole.lo[d];
    if (l->count == 0 || l->end != m->whole.hi[d] || l->blocks[0]->key[0] != at)
        return false;
    for (uint32_t k = 0; k < l->count; k++) {
        const block_t *b = l->blocks[k];
        if (b->count == 0 || b->count > BLOCK)
            return false;
        for (uint32_t e = 0; e < b->count; e++) {
            if ((k || e) && b->key[e] <= at)
                return false;
            at = b->key[e];
            if (!is_last(m, d) && !level_is_valid(m, d + 1, child(m, d, l, (place_t){k, e})))
                return false;
        }
    }
    return at < l->end || m->whole.hi[d] == m->whole.lo[d];
}

bool kmm__map_is_valid(const kmm__map_t *m)
{
    return level_is_valid(m, 0, m->root);
}
