/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of bytes as sorted intervals. The bytes of an item are enumerated index by index of its
 * sections. */
#include "analyze/byteset.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "clang/cursor.h"

enum { MOST_INTERVALS = 1 << 18, MOST_POINTS = 1 << 20 };

/* ---- Sets of bytes ---- */

int64_t byteset_count(const byteset_t *r, int64_t begin, int64_t end)
{
    int64_t count = 0;
    for (int k = 0; k < r->count && !r->all; k++) {
        int64_t from = r->at[k].begin > begin ? r->at[k].begin : begin,
                to = r->at[k].end < end ? r->at[k].end : end;
        count += to > from ? to - from : 0;
    }
    return r->all ? end - begin : count;
}

void byteset_clear(byteset_t *r)
{
    r->count = 0;
    r->all = false;
}

void byteset_add(byteset_t *r, int64_t begin, int64_t end)
{
    if (r->all || begin >= end)
        return;
    if (r->count && begin >= r->at[r->count - 1].begin && begin <= r->at[r->count - 1].end) {
        if (end > r->at[r->count - 1].end)
            r->at[r->count - 1].end = end;
        return;
    }
    if (r->count == MOST_INTERVALS) {
        byteset_sort(r);
        if (r->count > MOST_INTERVALS / 2) {
            r->all = true;
            return;
        }
    }
    r->at = arena_grow(r->at, r->count, &r->capacity, sizeof(*r->at));
    r->at[r->count++] = (struct interval){begin, end};
}

static int by_begin(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

void byteset_sort(byteset_t *r)
{
    int kept = 0;
    if (!r->count)
        return;
    qsort(r->at, (size_t)r->count, sizeof(*r->at), by_begin);
    for (int k = 1; k < r->count; k++) {
        if (r->at[k].begin > r->at[kept].end)
            r->at[++kept] = r->at[k];
        else if (r->at[k].end > r->at[kept].end)
            r->at[kept].end = r->at[k].end;
    }
    r->count = kept + 1;
}

bool byteset_has(const byteset_t *r, int64_t begin, int64_t end)
{
    int low = 0, high = r->count;
    if (r->all || begin >= end)
        return true;
    while (low < high) { /* the first interval that ends behind `begin` */
        int middle = (low + high) / 2;
        if (r->at[middle].end <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->count && r->at[low].begin <= begin && end <= r->at[low].end;
}

bool byteset_exceeds(const byteset_t *r, const byteset_t *other, int64_t *at)
{
    int k = 0;
    for (int i = 0; i < r->count && !other->all; i++) {
        int64_t begin = r->at[i].begin;
        while (k < other->count && other->at[k].end <= begin)
            k++;
        bool starts = k < other->count && other->at[k].begin <= begin;
        if (starts && r->at[i].end <= other->at[k].end)
            continue;
        *at = starts ? other->at[k].end : begin;
        return true;
    }
    return false;
}

/* ---- Items ---- */

int64_t byteset_element(const item_t *item)
{
    CXType type = type_pointee(clang_getCanonicalType(item->base->type));
    while (type_is_array(type))
        type = type_pointee(type);
    if (clang_getCanonicalType(type).kind == CXType_Void)
        return 1;
    return clang_Type_getSizeOf(type);
}

/* The extents of all dimensions but the first, which may be -1. */
static bool extents_of(sample_t *s, const item_t *item, int64_t extent[KMM_MAX_DIMS])
{
    extent[0] = -1;
    if (item->shape) {
        for (int k = 0; k < item->shape->dims; k++)
            if (!sample_expression(s, item->shape->extent[k], &extent[k]))
                return false;
        return item->shape->dims == item->section_count;
    }
    if (item->section_count <= 1)
        return item->inner_dims + 1 == item->section_count;
    CXType type = type_pointee(clang_getCanonicalType(item->base->type));
    for (int k = 1; k < item->section_count; k++) {
        extent[k] = clang_getArraySize(type);
        if (extent[k] <= 0)
            return false;
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    }
    return item->inner_dims + 1 == item->section_count;
}

/* [*lower, *end) of one section at the axes' values, within its dimension. */
static bool section_at(sample_t *s, const section_t *section, int64_t extent, int64_t *lower,
                       int64_t *end)
{
    int64_t length = 1;
    s->in_section = true;
    bool known = true;
    *lower = 0;
    if (section->lower)
        known = sample_expression(s, section->lower, lower) &&
                (!section->length || sample_expression(s, section->length, &length));
    else
        length = extent >= 0 ? extent : INT32_MAX;
    s->in_section = false;
    *end = *lower + length;
    if (extent >= 0) {
        *lower = *lower < 0 ? 0 : *lower;
        *end = *end > extent ? extent : *end;
    }
    return known;
}

typedef struct walk {
    sample_t *s;
    const item_t *item;
    int64_t extent[KMM_MAX_DIMS], element, base;
    int64_t lower[KMM_MAX_DIMS], end[KMM_MAX_DIMS]; /* the sections at the axes' values */
    byteset_t *r;
} walk_t;

/* The bytes of the sections at the axes' values: `inner` is the last dimension but those whose
 * sections are whole, so that its elements, or rows, lie side by side. */
static void add_sections(walk_t *w)
{
    int64_t at[KMM_MAX_DIMS], size = w->element;
    int inner = w->item->section_count - 1;
    for (; inner > 0 && w->lower[inner] == 0 && w->end[inner] == w->extent[inner]; inner--)
        size *= w->extent[inner];
    memcpy(at, w->lower, sizeof(at));
    for (int k = inner; k >= 0 && !w->r->all;) {
        int64_t row = 0;
        for (k = 0; k < inner; k++)
            row = row * w->extent[k] + at[k];
        row *= inner > 0 ? w->extent[inner] : 0;
        byteset_add(w->r, w->base + (row + w->lower[inner]) * size,
                    w->base + (row + w->end[inner]) * size);
        for (k = inner - 1; k >= 0 && ++at[k] >= w->end[k]; k--)
            at[k] = w->lower[k];
    }
}

static bool add_point(walk_t *w)
{
    int count = w->item->section_count;
    if (count > KMM_MAX_DIMS)
        return false;
    for (int k = 0; k < count; k++) {
        if (!section_at(w->s, &w->item->section[k], w->extent[k], &w->lower[k], &w->end[k]))
            return false;
        if (w->lower[k] >= w->end[k])
            return true;
        if (k + 1 < count && w->end[k] - w->lower[k] > MOST_POINTS) {
            w->r->all = true;
            return true;
        }
    }
    add_sections(w);
    return true;
}

static bool uses_axis(const item_t *item, int axis)
{
    for (int k = 0; k < item->section_count; k++)
        if (item->section[k].lower && (!form_is(item->section[k].lower_form.coef[axis], 0) ||
                                       !form_is(item->section[k].length_form.coef[axis], 0)))
            return true;
    return false;
}

static bool add_points(walk_t *w, const chunk_box_t *box, int axis)
{
    if (axis == w->s->d->axis_count)
        return add_point(w);
    if (!uses_axis(w->item, axis)) {
        w->s->axis[axis] = box->begin[axis];
        return add_points(w, box, axis + 1);
    }
    for (int64_t i = box->begin[axis]; i < box->end[axis] && !w->r->all; i++) {
        w->s->axis[axis] = i;
        if (!add_points(w, box, axis + 1))
            return false;
    }
    return true;
}

bool byteset_of_item(sample_t *s, const item_t *item, const chunk_box_t *box, int64_t base,
                     byteset_t *r)
{
    walk_t w = {.s = s, .item = item, .element = byteset_element(item), .base = base, .r = r};
    double points = 1;
    bool known = item->section_count > 0;
    for (int k = 0; k < item->section_count; k++)
        known &= !item->section[k].offsets;
    if (!known) {
        r->all = true;
        return true;
    }
    for (int k = 0; k < s->d->axis_count; k++) {
        if (!uses_axis(item, k))
            continue;
        if (box->begin[k] >= box->end[k])
            return true; /* the chunk is beyond the axis' range */
        points *= (double)(box->end[k] - box->begin[k]);
    }
    return points <= MOST_POINTS && w.element > 0 && extents_of(s, item, w.extent) &&
           add_points(&w, box, 0);
}

bool byteset_lower(sample_t *s, const item_t *item, const int64_t *axis, int64_t *lower)
{
    int64_t extent[KMM_MAX_DIMS], at, end;
    if (item->section_count != 1 || item->section[0].offsets || !extents_of(s, item, extent))
        return false;
    for (int k = 0; k < s->d->axis_count; k++)
        s->axis[k] = axis[k];
    if (!section_at(s, &item->section[0], -1, &at, &end))
        return false;
    *lower = at;
    return true;
}

bool byteset_extent(sample_t *s, const item_t *item, int64_t *bytes)
{
    int64_t extent[KMM_MAX_DIMS];
    if (!item->shape || !extents_of(s, item, extent))
        return false;
    *bytes = byteset_element(item);
    for (int k = 0; k < item->shape->dims; k++)
        if (__builtin_mul_overflow(*bytes, extent[k], bytes))
            return false;
    return true;
}
