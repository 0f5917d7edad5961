/* SPDX-License-Identifier: Apache-2.0 */
/* Parts are runs of neighbouring chunks along the outermost dimension that is divided, one for each
 * node. Every node computes all parts of a launch, and finds out what concerns it. */
#include "nodes/parts.h"

#include "launch/own_kernels.h"
#include "launch/plan.h"
#include "nodes/exchange.h"

/* The outermost dimension that is divided; KMM_MAX_SPLIT: none is. */
static uint32_t outermost(const kmm__partition_t *p)
{
    uint32_t d = KMM_MAX_SPLIT;
    while (d-- > 0)
        if (p->chunks[d] > 1)
            return d;
    return KMM_MAX_SPLIT;
}

/* True if no partial is of chunks before chunk k and of others. */
static bool cuts_partials(const kmm__submission_t *s, uint32_t k)
{
    const kmm__work_t *w = s->work;
    bool cuts = true;
    uint32_t first, last, before, unused;
    if (k == 0 || k >= s->part.count)
        return true;
    kmm__partition_numbers(&s->part, k, &first, &last);
    kmm__partition_numbers(&s->part, k - 1, &unused, &before);
    for (uint32_t i = 0; i < w->partials_count; i++)
        cuts &= kmm__partial_of(w, &w->partials[i], first) !=
                kmm__partial_of(w, &w->partials[i], before);
    return cuts;
}

/* The first chunk of a node's part. Chunks are numbered with the outermost dimension last, so a
 * part is some rows of that. */
static uint32_t part_begin(const kmm__submission_t *s, uint32_t node, uint32_t count)
{
    const uint32_t d = outermost(&s->part);
    const uint64_t rows = (uint64_t)s->part.chunks[d], row = s->part.count / rows;
    uint64_t at = rows * node / count * row;
    while (!cuts_partials(s, (uint32_t)at))
        at += row;
    return (uint32_t)at;
}

static bool part_is_empty(const kmm__submission_t *s, uint32_t node, uint32_t count)
{
    return part_begin(s, node, count) == part_begin(s, node + 1, count);
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

/* True if chunks store to the item's elements, and not to partials. */
static bool is_stored(const kmm__item_t *item)
{
    return item->mode == KMM_WRITE || item->mode == KMM_UPDATE;
}

/* The bytes of each item that the parts so far store to: all from the first to the last. */
typedef struct stored {
    int64_t range[KMM__MAX_ITEMS][2];
} stored_t;

/* True if bytes of the item's array are among those that other parts store to. */
static bool are_stored(const kmm__submission_t *s, const stored_t *before, uint32_t item,
                       const int64_t own[2])
{
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const int64_t *other = before->range[k];
        if (s->l->items[k].array == s->l->items[item].array && own[0] < other[1] &&
            other[0] < own[1])
            return true;
    }
    return false;
}

/* True if what a node's part stores through each item is a run of bytes, apart from what the parts
 * before it store. Adds it to these. */
static bool part_is_apart(const kmm__submission_t *s, const kmm__chunk_box_t *box, stored_t *before)
{
    stored_t own = {0};
    bool is_exact = true;
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        int64_t *range = own.range[k];
        if (!is_stored(&s->l->items[k]))
            continue;
        const int planned = region(s, k, box, range, &is_exact);
        if (planned < 0 || !is_exact || (planned > 0 && are_stored(s, before, k, range)))
            return false;
    }
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        int64_t *all = before->range[k], *range = own.range[k];
        if (range[0] == range[1])
            continue;
        all[0] = all[0] < all[1] && all[0] < range[0] ? all[0] : range[0];
        all[1] = all[1] > range[1] ? all[1] : range[1];
    }
    return true;
}

static bool parts_are_apart(const kmm__submission_t *s, uint32_t count)
{
    stored_t before = {0};
    for (uint32_t node = 0; node < count; node++) {
        if (part_is_empty(s, node, count))
            continue;
        const kmm__chunk_box_t box = part_box(s, node, count);
        if (!part_is_apart(s, &box, &before))
            return false;
    }
    return true;
}

/* True if the launch also reduces into the array. */
static bool is_target(const kmm__work_t *w, const kmm__array_t *a)
{
    for (uint32_t k = 0; k < w->partials_count; k++)
        if (w->partials[k].target == a)
            return true;
    return false;
}

const char *kmm__parts_refuse(const kmm__submission_t *s, uint32_t count)
{
    if (outermost(&s->part) == KMM_MAX_SPLIT)
        return "it is one chunk";
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *item = &s->l->items[k];
        if (!item->array)
            return "an item has no elements";
        if (item->holds_pointers || item->stores_pointers)
            return "elements of its arrays hold pointers";
        if (is_stored(item) && is_target(s->work, item->array))
            return "it writes to an array into which it reduces";
    }
    return parts_are_apart(s, count) ? NULL
                                     : "what a node's chunks write is no run of bytes of its own";
}

/* ---- The exchange ---- */

static void read_part(kmm__exchange_t *e, const kmm__submission_t *s, const uint64_t *ids,
                      uint32_t node)
{
    bool is_exact;
    int64_t range[2];
    const kmm__chunk_box_t box = part_box(s, node, e->nodes->count);
    for (uint32_t k = 0; k < s->l->item_count; k++)
        if (s->l->items[k].mode != KMM_WRITE && s->l->items[k].mode != KMM_REDUCE &&
            region(s, k, &box, range, &is_exact) > 0)
            kmm__exchange_read(e, kmm__shared_find(e->nodes, ids[k]), node, range);
}

/* Node 0 folds the partials into the target. Those of && and || begin as the target. */
static void read_targets(kmm__exchange_t *e, const kmm__submission_t *s, const uint64_t *ids)
{
    for (uint32_t k = 0; k < s->work->reduction_count; k++) {
        const kmm__reduction_t *r = &s->work->reductions[k];
        const int64_t range[2] = {r->begin, r->end};
        const uint32_t readers = kmm__reduction_is_truth(r) ? e->nodes->count : 1;
        for (uint32_t node = 0; node < readers; node++)
            kmm__exchange_read(e, kmm__shared_find(e->nodes, ids[r->item]), node, range);
    }
}

static void write_part(kmm__nodes_t *n, const kmm__submission_t *s, const uint64_t *ids,
                       uint32_t node)
{
    bool is_exact;
    int64_t range[2];
    const kmm__chunk_box_t box = part_box(s, node, n->count);
    for (uint32_t k = 0; k < s->l->item_count; k++)
        if (is_stored(&s->l->items[k]) && region(s, k, &box, range, &is_exact) > 0)
            kmm__holder_map_write(&kmm__shared_find(n, ids[k])->holders, node, range[0], range[1]);
}

static void write_all(kmm__nodes_t *n, const kmm__submission_t *s, const uint64_t *ids)
{
    for (uint32_t node = 0; node < n->count; node++)
        if (!part_is_empty(s, node, n->count))
            write_part(n, s, ids, node);
    for (uint32_t k = 0; k < s->work->reduction_count; k++) {
        const kmm__reduction_t *r = &s->work->reductions[k];
        kmm__holder_map_write(&kmm__shared_find(n, ids[r->item])->holders, 0, r->begin, r->end);
    }
    for (uint32_t k = 0; k < s->l->item_count; k++)
        kmm__holder_map_settle(&kmm__shared_find(n, ids[k])->holders);
}

void kmm__parts_begin(kmm__nodes_t *n, kmm__submission_t *s, const uint64_t *ids)
{
    kmm__exchange_t e = {.nodes = n};
    for (uint32_t node = 0; node < n->count; node++)
        if (!part_is_empty(s, node, n->count))
            read_part(&e, s, ids, node);
    read_targets(&e, s, ids);
    kmm__exchange_end(&e);
    write_all(n, s, ids);
    s->is_part = true;
    s->begin = part_begin(s, n->me, n->count);
    s->end = part_begin(s, n->me + 1, n->count);
    n->chunks += s->end - s->begin;
}

/* The partials of a node's chunks. */
static void partials_of(const kmm__submission_t *s, const kmm__partials_t *p,
                        const uint32_t part[2], uint32_t range[2])
{
    uint32_t first, last, unused;
    kmm__partition_numbers(&s->part, part[0], &first, &unused);
    kmm__partition_numbers(&s->part, part[1] - 1, &unused, &last);
    range[0] = kmm__partial_of(s->work, p, first);
    range[1] = kmm__partial_of(s->work, p, last) + 1;
}

void kmm__parts_gather(kmm__nodes_t *n, const kmm__submission_t *s)
{
    const kmm__work_t *w = s->work;
    kmm__exchange_t e = {.nodes = n};
    for (uint32_t node = 1; node < n->count; node++) {
        const uint32_t nodes[2] = {node, 0},
                       part[2] = {part_begin(s, node, n->count), part_begin(s, node + 1, n->count)};
        uint32_t range[2];
        if (part[0] == part[1])
            continue;
        for (uint32_t k = 0; k < w->reduction_count; k++) {
            partials_of(s, &w->partials[w->reductions[k].partials], part, range);
            kmm__exchange_partials(&e, w, k, nodes, range);
        }
    }
    kmm__exchange_end(&e);
}
