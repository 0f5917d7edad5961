/* SPDX-License-Identifier: Apache-2.0 */
/* Parts are runs of neighbouring chunks along the one dimension that is divided, one for each node.
 * Every node computes all parts of a launch, and finds out what concerns it. */
#include "nodes/parts.h"

#include "launch/plan.h"
#include "nodes/exchange.h"

static uint32_t part_begin(const kmm__submission_t *s, uint32_t node, uint32_t count)
{
    return (uint32_t)((uint64_t)s->part.count * node / count);
}

/* The part of a node as one chunk. */
static kmm__chunk_box_t part_box(const kmm__submission_t *s, uint32_t node, uint32_t count)
{
    kmm__chunk_box_t box, last;
    kmm__partition_chunk(&s->part, s->l, part_begin(s, node, count), &box);
    kmm__partition_chunk(&s->part, s->l, part_begin(s, node + 1, count) - 1, &last);
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++)
        box.count[d] = last.first[d] + last.count[d] - box.first[d];
    for (uint32_t k = 0; k < s->l->axis_count; k++)
        box.axis_hi[k] = last.axis_hi[k];
    return box;
}

/* The bytes of an item in a box: all from the first to the last. Returns as kmm__plan does;
 * *is_exact receives whether it is these bytes and no others. */
static int region(const kmm__submission_t *s, uint32_t item, const kmm__chunk_box_t *box,
                  int64_t range[2], bool *is_exact)
{
    kmm__access_t a;
    kmm__layout_t shaped;
    int planned = kmm__plan(&s->l->items[item], s->l->axis_count, box, &a, &shaped);
    range[0] = range[1] = 0;
    if (planned <= 0)
        return planned;
    int64_t run[2];
    *is_exact = a.exact && kmm__layout_contiguous(a.layout, &a.box, &run[0], &run[1]);
    kmm__layout_hull(a.layout, &a.box, &range[0], &range[1]);
    return 1;
}

/* ---- Whether it is possible ---- */

/* True if exactly one dimension is divided. */
static bool is_row_of_chunks(const kmm__partition_t *p)
{
    uint32_t divided = 0;
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++)
        divided += p->chunks[d] > 1;
    return divided == 1;
}

/* True if the part's stores to the item are a run of bytes that no part before it stores to,
 * through any item. */
static bool stores_are_apart(const kmm__submission_t *s, uint32_t item, uint32_t node,
                             uint32_t count)
{
    int64_t own[2], other[2];
    bool is_exact;
    kmm__chunk_box_t box = part_box(s, node, count);
    int planned = region(s, item, &box, own, &is_exact);
    if (planned < 0 || (planned > 0 && !is_exact))
        return false;
    for (uint32_t before = 0; before < node && planned > 0; before++) {
        box = part_box(s, before, count);
        for (uint32_t k = 0; k < s->l->item_count; k++) {
            if (s->l->items[k].array != s->l->items[item].array || s->l->items[k].mode == KMM_READ)
                continue;
            if (region(s, k, &box, other, &is_exact) > 0 && own[0] < other[1] && other[0] < own[1])
                return false;
        }
    }
    return true;
}

bool kmm__parts_are_possible(const kmm__submission_t *s, uint32_t count)
{
    if (s->part.count < count || !is_row_of_chunks(&s->part))
        return false;
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *item = &s->l->items[k];
        if (!item->array || item->mode == KMM_REDUCE || item->holds_pointers ||
            item->stores_pointers)
            return false;
        for (uint32_t node = 0; node < count && item->mode != KMM_READ; node++)
            if (!stores_are_apart(s, k, node, count))
                return false;
    }
    return true;
}

/* ---- The exchange ---- */

static void read_all(kmm__exchange_t *e, const kmm__submission_t *s, const uint64_t *ids)
{
    bool is_exact;
    int64_t range[2];
    for (uint32_t node = 0; node < e->nodes->count; node++) {
        const kmm__chunk_box_t box = part_box(s, node, e->nodes->count);
        for (uint32_t k = 0; k < s->l->item_count; k++)
            if (s->l->items[k].mode != KMM_WRITE && region(s, k, &box, range, &is_exact) > 0)
                kmm__exchange_read(e, kmm__shared_find(e->nodes, ids[k]), node, range);
    }
}

static void write_all(kmm__nodes_t *n, const kmm__submission_t *s, const uint64_t *ids)
{
    bool is_exact;
    int64_t range[2];
    for (uint32_t node = 0; node < n->count; node++) {
        const kmm__chunk_box_t box = part_box(s, node, n->count);
        for (uint32_t k = 0; k < s->l->item_count; k++)
            if (s->l->items[k].mode != KMM_READ && region(s, k, &box, range, &is_exact) > 0)
                kmm__holder_map_write(&kmm__shared_find(n, ids[k])->holders, node, range[0],
                                      range[1]);
    }
    for (uint32_t k = 0; k < s->l->item_count; k++)
        kmm__holder_map_settle(&kmm__shared_find(n, ids[k])->holders);
}

void kmm__parts_begin(kmm__nodes_t *n, kmm__submission_t *s, const uint64_t *ids)
{
    kmm__exchange_t e = {.nodes = n};
    read_all(&e, s, ids);
    kmm__exchange_end(&e);
    write_all(n, s, ids);
    s->begin = part_begin(s, n->me, n->count);
    s->end = part_begin(s, n->me + 1, n->count);
}
