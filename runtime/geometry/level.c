/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of a map: making, copying, cutting, joining and checking them. */
#include "geometry/level.h"

#include <stdlib.h>

#include "base/alloc.h"

void kmm__cell_drop(kmm__map_t *m, uint32_t d, const kmm__level_t *l, kmm__position_t p)
{
    if (!kmm__is_last(m, d))
        kmm__level_free(m, d + 1, kmm__level_child(m, d, l, p));
    else if (m->ops.drop)
        m->ops.drop(m->ctx, kmm__cell(m, d, l, p));
}

/* ---- Levels ---- */

void kmm__level_free(kmm__map_t *m, uint32_t d, kmm__level_t *l)
{
    for (kmm__position_t p = {0, 0}; !kmm__at_end(l, p); p = kmm__next(l, p))
        kmm__cell_drop(m, d, l, p);
    for (uint32_t k = 0; k < l->count; k++) {
        m->cells -= l->blocks[k]->count;
        free(l->blocks[k]);
    }
    free(l->blocks);
    free(l);
}

static kmm__map_block_t *block_new(const kmm__map_t *m, uint32_t d)
{
    return kmm__alloc(sizeof(kmm__map_block_t) + KMM__BLOCK_INTERVALS * kmm__cell_bytes(m, d));
}

/* Makes a level of one interval, whose cell is raw memory. */
static kmm__level_t *level_new(kmm__map_t *m, uint32_t d)
{
    kmm__level_t *l = kmm__alloc(sizeof(*l));
    kmm__map_block_t *b = block_new(m, d);
    l->capacity = 1;
    l->blocks = kmm__alloc(sizeof(*l->blocks));
    b->count = 1;
    b->key[0] = m->whole.lo[d];
    l->blocks[0] = b;
    l->count = 1;
    l->end = m->whole.hi[d];
    m->cells++;
    return l;
}

kmm__level_t *kmm__level_uniform(kmm__map_t *m, uint32_t d, const void *value)
{
    kmm__level_t *l = level_new(m, d);
    if (kmm__is_last(m, d)) {
        kmm__value_copy(m, l->blocks[0]->data, value);
        return l;
    }
    kmm__level_t *c = kmm__level_uniform(m, d + 1, value);
    memcpy(l->blocks[0]->data, &c, sizeof(c));
    return l;
}

/* Copies a level and all levels below it. */
static kmm__level_t *level_copy(kmm__map_t *m, uint32_t d, const kmm__level_t *l);

/* Copies the value, or the level, in the cell at p to dst, which is raw memory. */
static void cell_copy(kmm__map_t *m, uint32_t d, void *dst, const kmm__level_t *l,
                      kmm__position_t p)
{
    if (kmm__is_last(m, d)) {
        kmm__value_copy(m, dst, kmm__cell(m, d, l, p));
        return;
    }
    kmm__level_t *c = level_copy(m, d + 1, kmm__level_child(m, d, l, p));
    memcpy(dst, &c, sizeof(c));
}

static kmm__level_t *level_copy(kmm__map_t *m, uint32_t d, const kmm__level_t *l)
{
    kmm__level_t *out = kmm__alloc(sizeof(*out));
    out->blocks = kmm__alloc(l->count * sizeof(*out->blocks));
    out->capacity = l->count;
    out->end = l->end;
    for (uint32_t k = 0; k < l->count; k++) {
        kmm__map_block_t *b = out->blocks[out->count++] = block_new(m, d);
        for (uint32_t e = 0; e < l->blocks[k]->count; e++) {
            cell_copy(m, d, b->data + e * kmm__cell_bytes(m, d), l, (kmm__position_t){k, e});
            b->key[e] = l->blocks[k]->key[e];
        }
        b->count = l->blocks[k]->count;
        m->cells += b->count;
    }
    return out;
}

size_t kmm__level_leaves(const kmm__map_t *m, uint32_t d, const kmm__level_t *l)
{
    size_t n = 0;
    for (kmm__position_t p = {0, 0}; !kmm__at_end(l, p); p = kmm__next(l, p))
        n += kmm__is_last(m, d) ? 1 : kmm__level_leaves(m, d + 1, kmm__level_child(m, d, l, p));
    return n;
}

/* ---- Cutting and removing intervals ---- */

/* Moves the upper half of block k to a new block behind it. */
static void block_split(const kmm__map_t *m, uint32_t d, kmm__level_t *l, uint32_t k)
{
    size_t size = kmm__cell_bytes(m, d);
    kmm__map_block_t *b = l->blocks[k], *upper = block_new(m, d);
    uint32_t half = b->count / 2;
    l->blocks = kmm__grow(l->blocks, l->count, &l->capacity, sizeof(*l->blocks));
    upper->count = b->count - half;
    memcpy(upper->key, b->key + half, upper->count * sizeof(*b->key));
    memcpy(upper->data, b->data + half * size, upper->count * size);
    b->count = half;
    memmove(l->blocks + k + 2, l->blocks + k + 1, (l->count - k - 1) * sizeof(*l->blocks));
    l->blocks[k + 1] = upper;
    l->count++;
}

void kmm__level_cut(kmm__map_t *m, uint32_t d, kmm__level_t *l, kmm__position_t *p, int64_t x)
{
    size_t size = kmm__cell_bytes(m, d);
    kmm__level_t *below = NULL;
    if (l->blocks[p->block]->count == KMM__BLOCK_INTERVALS) {
        block_split(m, d, l, p->block);
        if (p->entry >= l->blocks[p->block]->count)
            *p = (kmm__position_t){p->block + 1, p->entry - l->blocks[p->block]->count};
    }
    if (!kmm__is_last(m, d))
        below = level_copy(m, d + 1, kmm__level_child(m, d, l, *p));
    kmm__map_block_t *b = l->blocks[p->block];
    unsigned char *old = b->data + p->entry * size;
    uint32_t e = ++p->entry;
    memmove(b->key + e + 1, b->key + e, (b->count - e) * sizeof(*b->key));
    memmove(old + 2 * size, old + size, (b->count - e) * size);
    b->key[e] = x;
    if (below)
        memcpy(old + size, &below, sizeof(below));
    else
        kmm__value_copy(m, old + size, old);
    b->count++;
    m->cells++;
}

static void block_remove(kmm__level_t *l, uint32_t k)
{
    free(l->blocks[k]);
    memmove(l->blocks + k, l->blocks + k + 1, (l->count - k - 1) * sizeof(*l->blocks));
    l->count--;
}

kmm__position_t kmm__level_swallow(kmm__map_t *m, uint32_t d, kmm__level_t *l, kmm__position_t p)
{
    size_t size = kmm__cell_bytes(m, d);
    kmm__map_block_t *b = l->blocks[p.block];
    kmm__cell_drop(m, d, l, p);
    b->count--;
    m->cells--;
    memmove(b->key + p.entry, b->key + p.entry + 1, (b->count - p.entry) * sizeof(*b->key));
    memmove(b->data + p.entry * size, b->data + (p.entry + 1) * size, (b->count - p.entry) * size);
    if (b->count == 0) {
        block_remove(l, p.block);
        return (kmm__position_t){p.block, 0};
    }
    if (p.block + 1 < l->count &&
        b->count + l->blocks[p.block + 1]->count <= KMM__BLOCK_INTERVALS / 2) {
        kmm__map_block_t *n = l->blocks[p.block + 1];
        memcpy(b->key + b->count, n->key, n->count * sizeof(*n->key));
        memcpy(b->data + b->count * size, n->data, n->count * size);
        b->count += n->count;
        block_remove(l, p.block + 1);
    }
    return p.entry < b->count ? p : (kmm__position_t){p.block + 1, 0};
}

static bool level_same(const kmm__map_t *m, uint32_t d, const kmm__level_t *a,
                       const kmm__level_t *b);

static bool cell_same(const kmm__map_t *m, uint32_t d, const kmm__level_t *a, kmm__position_t p,
                      const kmm__level_t *b, kmm__position_t q)
{
    if (!kmm__is_last(m, d))
        return level_same(m, d + 1, kmm__level_child(m, d, a, p), kmm__level_child(m, d, b, q));
    const void *x = kmm__cell(m, d, a, p), *y = kmm__cell(m, d, b, q);
    return m->ops.same ? m->ops.same(m->ctx, x, y) : memcmp(x, y, m->ops.value_bytes) == 0;
}

static bool level_same(const kmm__map_t *m, uint32_t d, const kmm__level_t *a,
                       const kmm__level_t *b)
{
    kmm__position_t p = {0, 0}, q = {0, 0};
    for (; !kmm__at_end(a, p) && !kmm__at_end(b, q); p = kmm__next(a, p), q = kmm__next(b, q))
        if (kmm__key_at(a, p) != kmm__key_at(b, q) || !cell_same(m, d, a, p, b, q))
            return false;
    return kmm__at_end(a, p) && kmm__at_end(b, q);
}

void kmm__level_join(kmm__map_t *m, uint32_t d, kmm__level_t *l)
{
    for (kmm__position_t p = {0, 0}; !kmm__at_end(l, p); p = kmm__next(l, p)) {
        if (!kmm__is_last(m, d))
            kmm__level_join(m, d + 1, kmm__level_child(m, d, l, p));
        else if (m->ops.settle)
            m->ops.settle(m->ctx, kmm__cell(m, d, l, p));
    }
    for (kmm__position_t p = {0, 0}, n; n = kmm__next(l, p), !kmm__at_end(l, n);) {
        if (!cell_same(m, d, l, p, l, n)) {
            p = n;
            continue;
        }
        kmm__level_swallow(m, d, l, n); /* p stays valid */
    }
}

bool kmm__level_is_valid(const kmm__map_t *m, uint32_t d, const kmm__level_t *l, size_t *cells)
{
    int64_t at = m->whole.lo[d];
    if (l->count == 0 || l->count > l->capacity || l->end != m->whole.hi[d] ||
        l->blocks[0]->key[0] != at)
        return false;
    for (uint32_t k = 0; k < l->count; k++) {
        const kmm__map_block_t *b = l->blocks[k];
        if (b->count == 0 || b->count > KMM__BLOCK_INTERVALS)
            return false;
        *cells += b->count;
        for (uint32_t e = 0; e < b->count; e++) {
            kmm__position_t p = {k, e};
            if ((k || e) && b->key[e] <= at)
                return false;
            at = b->key[e];
            if (!kmm__is_last(m, d) &&
                !kmm__level_is_valid(m, d + 1, kmm__level_child(m, d, l, p), cells))
                return false;
        }
    }
    return at < l->end || m->whole.hi[d] == m->whole.lo[d];
}
