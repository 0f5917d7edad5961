/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds chunks of a launch that write the same elements, before the first of them runs.
 *
 * Most items tell by their form that no two chunks do: their index is a number whose digits are the
 * axes, each with a base at least as large as what the digits below it reach. Where the form does
 * not tell, the regions of all chunks are entered into a map of each array. The DAG finds the same
 * (task/dag.c), but only when it enters the second of the two chunks.
 *
 * Of plain functions it also finds chunks that read through one pointer what other chunks write
 * through another. kmmcc takes what several parameters lead to as several arrays. Where each access
 * is checked, that check tells more (execute/exact_order.h).
 */
#include "launch/disjoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "execute/exact.h"
#include "geometry/shape_map.h"
#include "launch/arguments.h"
#include "launch/meaning.h"
#include "launch/plan.h"
#include "memory/array.h"

static bool is_written(const kmm__item_t *item)
{
    return item->array && (item->mode == KMM_WRITE || item->mode == KMM_UPDATE);
}

/* ---- By their form ---- */

/* True if the sections of both differ in nothing but their constant part. */
static bool is_alike(const kmm__item_t *a, const kmm__item_t *b, uint32_t axis_count)
{
    if (a->base != b->base || a->element != b->element || a->dims != b->dims ||
        a->section_count != b->section_count ||
        memcmp(a->extent, b->extent, a->dims * sizeof(*a->extent)))
        return false;
    for (uint32_t d = 0; d < a->section_count; d++)
        if (a->section[d].whole != b->section[d].whole ||
            a->section[d].offsets.at != b->section[d].offsets.at ||
            memcmp(a->section[d].coef, b->section[d].coef, axis_count * sizeof(kmm__term_t)))
            return false;
    return true;
}

/* The number of indices, for one value of all axes, from the first to the last that any of the
 * array's written items names in dimension d. */
static int64_t reach_of(const kmm_launch_t *l, const kmm__item_t *item, uint32_t d)
{
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (uint32_t k = 0; k < l->item_count; k++) {
        const kmm__item_t *other = &l->items[k];
        if (!is_written(other) || other->array != item->array)
            continue;
        const kmm__term_t *c = &other->section[d].constant;
        lo = c->lower < lo ? c->lower : lo;
        hi = c->lower + c->length > hi ? c->lower + c->length : hi;
    }
    return hi - lo;
}

/* The axes with coefficients in section d, by their size, which is written to `step`. Returns their
 * number; 0, too, if the section's length depends on an axis or on data. */
static uint32_t axes_by_step(const kmm_launch_t *l, const kmm__section_t *c, uint32_t *axis,
                             int64_t *step)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < l->axis_count; k++) {
        int64_t by = llabs(c->coef[k].lower);
        if (c->coef[k].length || c->offsets.at)
            return 0;
        if (by == 0)
            continue;
        uint32_t at = n++;
        for (; at > 0 && step[at - 1] > by; at--) {
            step[at] = step[at - 1];
            axis[at] = axis[at - 1];
        }
        step[at] = by;
        axis[at] = k;
    }
    return n;
}

/* Returns the axes (bits) that section d tells apart: two points of the launch that differ in one
 * of them have no index in common. */
static uint32_t axes_apart(const kmm_launch_t *l, const kmm__item_t *item, uint32_t d,
                           const kmm__chunk_box_t *whole)
{
    uint32_t axis[KMM_MAX_AXES], apart = 0;
    int64_t step[KMM_MAX_AXES], reach = reach_of(l, item, d);
    uint32_t n = item->section[d].whole ? 0 : axes_by_step(l, &item->section[d], axis, step);
    for (uint32_t k = 0; k < n; k++) {
        int64_t length = whole->axis_hi[axis[k]] - whole->axis_lo[axis[k]], more;
        apart = step[k] < reach ? 0 : apart | 1u << axis[k];
        if (__builtin_mul_overflow(step[k], length > 0 ? length - 1 : 0, &more) ||
            __builtin_add_overflow(reach, more, &reach))
            return 0;
    }
    return apart;
}

/* True if the form of the item tells that chunks write different elements of it. */
static bool is_item_apart(const kmm__submission_t *s, const kmm__item_t *item,
                          const kmm__chunk_box_t *whole)
{
    const kmm_launch_t *l = s->l;
    uint32_t axes = 0, dimensions = 0;
    for (uint32_t k = 0; k < l->item_count; k++)
        if (is_written(&l->items[k]) && l->items[k].array == item->array &&
            !is_alike(item, &l->items[k], l->axis_count))
            return false;
    for (uint32_t d = 0; d < item->section_count; d++)
        axes |= axes_apart(l, item, d, whole);
    for (uint32_t k = 0; k < l->axis_count; k++)
        dimensions |= (axes >> k & 1) << kmm__partition_dimension(l->axis[k].source);
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++)
        if (s->part.chunks[d] > 1 && !(dimensions >> d & 1))
            return false;
    return true;
}

/* ---- By their regions ---- */

/* Who writes an element. */
typedef struct writer {
    uint32_t chunk; /* counted from 1; 0: none so far */
    uint32_t is_exact;
} writer_t;

static const kmm__map_ops_t writer_ops = {.value_bytes = sizeof(writer_t)};

/* The regions of one chunk, and the map of each item's array: that of its first item. */
typedef struct regions {
    const kmm__submission_t *s;
    kmm__shape_map_t *maps;
    kmm__access_t *accesses;
    kmm__layout_t *layouts;
    bool *is_there;
    bool is_exact; /* all regions that the chunk writes */
} regions_t;

static kmm__shape_map_t *map_of(regions_t *r, uint32_t item)
{
    const kmm_launch_t *l = r->s->l;
    const writer_t none = {0, 0};
    uint32_t k = 0;
    while (!is_written(&l->items[k]) || l->items[k].array != l->items[item].array)
        k++;
    kmm__shape_map_t *m = &r->maps[k];
    if (!m->map) {
        m->layout = l->items[k].array->flat;
        kmm__box_t whole = kmm__layout_whole(&m->layout);
        m->map = kmm__map_create(&writer_ops, NULL, &whole, &none);
    }
    return m;
}

static int plan_chunk(regions_t *r, uint32_t chunk)
{
    const kmm__submission_t *s = r->s;
    kmm__chunk_box_t box;
    kmm__partition_chunk(&s->part, s->l, chunk, &box);
    r->is_exact = true;
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        int planned = is_written(&s->l->items[k]) ? kmm__plan(&s->l->items[k], s->l->axis_count,
                                                              &box, &r->accesses[k], &r->layouts[k])
                                                  : 0;
        if (planned < 0)
            return planned;
        r->is_there[k] = planned > 0;
        r->is_exact &= !planned || r->accesses[k].exact;
    }
    return 0;
}

static int find_writer(void *arg, const kmm__box_t *part, const void *value)
{
    const uint32_t *chunk = arg;
    const writer_t *w = value;
    (void)part;
    return w->chunk && w->chunk != *chunk && w->is_exact;
}

/* Enters the item's region. True: another chunk writes part of it. */
static bool meets_another(regions_t *r, uint32_t item, uint32_t chunk)
{
    const kmm__access_t *a = &r->accesses[item];
    const writer_t writer = {chunk + 1, r->is_exact};
    uint32_t number = chunk + 1;
    kmm__box_t boxes[2 * KMM__DIMS];
    kmm__shape_map_t *m = map_of(r, item);
    int n = kmm__shape_map_boxes(m, &writer_ops, NULL, a->layout, &a->box, boxes);
    bool meets = false;
    for (int b = 0; b < n && !meets; b++)
        meets = a->exact && kmm__map_visit(m->map, &boxes[b], find_writer, &number);
    for (int b = 0; b < n && !meets; b++)
        kmm__map_assign(m->map, &boxes[b], &writer);
    return meets;
}

static int refuse(const kmm__submission_t *s, uint32_t item, uint32_t chunk)
{
    char where[320];
    uint32_t first, last;
    kmm__partition_numbers(&s->part, chunk, &first, &last);
    for (uint32_t k = 0; k < s->l->item_count; k++)
        s->l->undone |= is_written(&s->l->items[k]) && s->l->items[k].inferred;
    kmm__work_describe(s->work, first, last, where, sizeof(where));
    return kmm__error_set(KMM_E_OVERLAP,
                          "%s: argument %s: another chunk of this launch writes the same elements",
                          where, s->l->items[item].text);
}

/* ---- Reads through one pointer of what is written through another ---- */

/* True if the function gets several pointers to what the items name, or finds pointers of several
 * bases in memory. One that it only compares, as the end of an array, does not count. */
static bool are_of_several(const kmm__submission_t *s, const kmm__item_t *a, const kmm__item_t *b)
{
    const kmm__work_t *w = s->work;
    uint32_t found = 0;
    for (uint32_t k = 0; k < w->pointer_count; k++) {
        const kmm__pointer_t *p = &w->pointers[k];
        const char *word = p->array->base + p->offset;
        found += p->array == a->array && !kmm__argument_is_compared(s, p) &&
                 (kmm__meaning_has(a, word) || kmm__meaning_has(b, word));
    }
    return found > 1 || (!found && a->base != b->base);
}

/* The first item through whose pointer the launch may write what the item reads through another;
 * NULL: none. */
static const kmm__item_t *crossed_by(const kmm__submission_t *s, const kmm__item_t *read,
                                     const kmm__chunk_box_t *whole)
{
    const kmm_launch_t *l = s->l;
    int64_t begin, end, lo, hi;
    for (uint32_t k = 0; k < l->item_count && read->mode == KMM_READ; k++) {
        const kmm__item_t *w = &l->items[k];
        if (!is_written(w) || w->array != read->array || !are_of_several(s, w, read))
            continue;
        if (!kmm__plan_hull(w, l->axis_count, whole, &begin, &end) ||
            !kmm__plan_hull(read, l->axis_count, whole, &lo, &hi) ||
            (w->base + begin < read->base + hi && read->base + lo < w->base + end))
            return w;
    }
    return NULL;
}

static bool is_crossed(const kmm__submission_t *s, const kmm__chunk_box_t *whole)
{
    for (uint32_t k = 0; k < s->l->item_count && s->function && !kmm__exact_is_on(); k++)
        if (crossed_by(s, &s->l->items[k], whole))
            return true;
    return false;
}

bool kmm__disjoint_is_said(const kmm_launch_t *l)
{
    enum { MAX_SAID = 64 };
    static struct {
        const char *file;
        int line;
    } said[MAX_SAID];
    static uint32_t count; /* guarded by the runtime's lock, as all of this */
    for (uint32_t k = 0; k < count; k++)
        if (said[k].file == l->file && said[k].line == l->line)
            return true;
    if (count < MAX_SAID) {
        said[count].file = l->file;
        said[count++].line = l->line;
    }
    return false;
}

/* True if another chunk writes part of what this one reads. */
static bool reads_another(regions_t *r, uint32_t item, uint32_t chunk)
{
    const kmm__submission_t *s = r->s;
    kmm__chunk_box_t box;
    kmm__box_t boxes[2 * KMM__DIMS];
    kmm__access_t *a = &r->accesses[item];
    uint32_t number = chunk + 1;
    kmm__partition_chunk(&s->part, s->l, chunk, &box);
    if (kmm__plan(&s->l->items[item], s->l->axis_count, &box, a, &r->layouts[item]) <= 0 ||
        !a->exact)
        return false;
    kmm__shape_map_t *m = map_of(r, item);
    int n = kmm__shape_map_boxes(m, &writer_ops, NULL, a->layout, &a->box, boxes);
    for (int b = 0; b < n; b++)
        if (kmm__map_visit(m->map, &boxes[b], find_writer, &number))
            return true;
    return false;
}

static void warn_crossed(const kmm__submission_t *s, uint32_t item, uint32_t chunk,
                         const kmm__item_t *writes)
{
    char where[320];
    uint32_t first, last;
    kmm__partition_numbers(&s->part, chunk, &first, &last);
    kmm__work_describe(s->work, first, last, where, sizeof(where));
    if (!kmm__disjoint_is_said(s->l))
        kmm__log(KMM__LOG_WARNING,
                 "%s: argument %s: another chunk of this launch writes the same elements as %s, "
                 "and chunks run in any order, so results may differ from those of one call "
                 "[crossed]",
                 where, s->l->items[item].text, writes->text);
}

/* Warns of the first chunk that reads what another one writes. All writes are in the maps. */
static void find_crossed(regions_t *r)
{
    const kmm__submission_t *s = r->s;
    kmm__chunk_box_t whole;
    kmm__partition_whole(&s->part, s->l, &whole);
    if (!is_crossed(s, &whole))
        return;
    for (uint32_t k = 0; k < s->l->item_count; k++) {
        const kmm__item_t *writes = crossed_by(s, &s->l->items[k], &whole);
        for (uint32_t c = 0; c < s->part.count && writes; c++)
            if (reads_another(r, k, c)) {
                warn_crossed(s, k, c, writes);
                return;
            }
    }
}

static int check_regions(regions_t *r)
{
    const kmm__submission_t *s = r->s;
    for (uint32_t c = 0; c < s->part.count; c++) {
        if (plan_chunk(r, c))
            return 0; /* the first chunk will say so, and nothing will run */
        for (uint32_t k = 0; k < s->l->item_count; k++)
            if (r->is_there[k] && meets_another(r, k, c))
                return refuse(s, k, c);
    }
    find_crossed(r);
    return 0;
}

static int compare_regions(const kmm__submission_t *s)
{
    uint32_t n = s->l->item_count;
    regions_t r = {.s = s,
                   .maps = kmm__alloc(n * sizeof(*r.maps)),
                   .accesses = kmm__alloc(n * sizeof(*r.accesses)),
                   .layouts = kmm__alloc(n * sizeof(*r.layouts)),
                   .is_there = kmm__alloc(n * sizeof(*r.is_there))};
    int error = check_regions(&r);
    for (uint32_t k = 0; k < n; k++)
        if (r.maps[k].map)
            kmm__map_destroy(r.maps[k].map);
    free(r.maps);
    free(r.accesses);
    free(r.layouts);
    free(r.is_there);
    return error;
}

int kmm__submission_disjoint(const kmm__submission_t *s)
{
    kmm__chunk_box_t whole;
    bool apart = true;
    if (s->part.count < 2)
        return 0;
    kmm__partition_whole(&s->part, s->l, &whole);
    for (uint32_t k = 0; k < s->l->item_count && apart; k++)
        apart = !is_written(&s->l->items[k]) || is_item_apart(s, &s->l->items[k], &whole);
    return apart && !is_crossed(s, &whole) ? 0 : compare_regions(s);
}

bool kmm__stores_are_apart(const kmm_launch_t *l)
{
    for (uint32_t i = 0; i < l->item_count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const kmm__item_t *a = &l->items[i], *b = &l->items[k];
            if (a->array && a->array == b->array && a->base != b->base && a->mode != KMM_READ &&
                b->mode != KMM_READ)
                return false;
        }
    return true;
}
