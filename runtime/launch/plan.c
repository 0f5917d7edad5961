/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the region of an item in a chunk. An index is affine in the axes. So its minimum and
 * maximum over a chunk's box are found axis by axis. If an index skips elements between them, the
 * region is a hull. A flat index with one gap, such as row * w + col, gives a box of two
 * dimensions: rows, and bytes of a row.
 */
#include "launch/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "memory/array.h"

/* Elements. A region that is farther outside of its array has an offset that wrapped: one of 32
 * bits that stands for a negative number is at least twice as far. */
enum { FAR = 1 << 30 };

typedef struct span {
    int64_t lo, hi;
    bool exact;
    int64_t pitch, run, rows; /* if there is one gap: `rows` runs of `run` elements, `pitch` apart;
                                 otherwise rows is 0 */
} span_t;

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* An axis moves the index by `by` elements, `times` - 1 times. */
typedef struct step {
    int64_t by, times;
} step_t;

static int step_compare(const void *a, const void *b)
{
    int64_t x = ((const step_t *)a)->by, y = ((const step_t *)b)->by;
    return (x > y) - (x < y);
}

/* Sets s->exact if runs of `run` elements, repeated by the steps, leave no gap. If only the largest
 * step leaves gaps, sets pitch, run and rows instead. Steps are taken by increasing size: a step
 * that is at most `run` lengthens the run. */
static void span_exactness(span_t *s, step_t *steps, uint32_t n, int64_t run)
{
    if (n > 1)
        qsort(steps, n, sizeof(*steps), step_compare);
    for (uint32_t k = 0; k < n; k++) {
        if (steps[k].by <= run) {
            run += steps[k].by * (steps[k].times - 1);
            continue;
        }
        if (k + 1 == n) {
            s->pitch = steps[k].by;
            s->run = run;
            s->rows = steps[k].times;
        }
        return;
    }
    s->exact = true;
}

/* Returns the number at an index, which exists. One that is too large for any array becomes one
 * that can be counted in bytes. */
static int64_t offset_at(const kmm__offsets_t *o, int64_t index)
{
    const int64_t most = INT64_C(1) << 46;
    switch (o->type) {
    case KMM_INT32: return ((const int32_t *)o->at)[index];
    case KMM_UINT32: return ((const uint32_t *)o->at)[index];
    case KMM_INT64: return clamp(((const int64_t *)o->at)[index], -most, most);
    default: break;
    }
    uint64_t value = ((const uint64_t *)o->at)[index];
    return value > (uint64_t)most ? most : (int64_t)value;
}

/* Returns the elements of the parts that have these indices: all from the first to the last. They
 * are exact if each part begins or ends where those before it do, and if all indices are. */
static span_t parts_span(const kmm__offsets_t *o, const span_t *indices)
{
    int64_t first = clamp(indices->lo, 0, o->count - 1),
            last = clamp(indices->hi, first, o->count - 1);
    span_t s = {.exact = indices->exact};
    for (int64_t k = first, begin, end = offset_at(o, first); k < last; k++) {
        begin = end;
        end = offset_at(o, k + 1);
        if (end <= begin)
            continue;
        if (s.hi <= s.lo) { /* the first part with elements */
            s.lo = begin;
            s.hi = end;
            continue;
        }
        s.exact &= begin <= s.hi && end >= s.lo;
        s.lo = begin < s.lo ? begin : s.lo;
        s.hi = end > s.hi ? end : s.hi;
    }
    return s;
}

/* Returns the indices that an affine section has in a chunk. hi <= lo: none. */
static span_t index_span(const kmm__section_t *c, uint32_t axis_count, const kmm__chunk_box_t *box)
{
    span_t s = {.lo = c->constant.lower, .hi = c->constant.lower + c->constant.length};
    step_t steps[KMM_MAX_AXES];
    uint32_t n = 0;
    bool varies = false;
    int64_t run = c->constant.length; /* number of indices at the chunk's first point; used only if
                                         it is the same everywhere */
    for (uint32_t k = 0; k < axis_count; k++) {
        int64_t first = box->axis_lo[k], last = box->axis_hi[k] - 1;
        int64_t low = c->coef[k].lower, high = low + c->coef[k].length;
        s.lo += low * (low > 0 ? first : last);
        s.hi += high * (high > 0 ? last : first);
        varies |= c->coef[k].length != 0 && first != last;
        run += c->coef[k].length * first;
        if (low && first != last)
            steps[n++] = (step_t){llabs(low), last - first + 1};
    }
    if (varies)
        return s; /* the length varies with the axes, as in a triangle: the region is the hull */
    span_exactness(&s, steps, n, run);
    return s;
}

/* Returns the elements that a section has in a chunk. hi <= lo: none. */
static span_t section_span(const kmm__section_t *c, uint32_t axis_count,
                           const kmm__chunk_box_t *box)
{
    span_t s = index_span(c, axis_count, box);
    return c->offsets.at ? parts_span(&c->offsets, &s) : s;
}

static bool chunk_is_empty(const kmm__section_t *c, uint32_t axis_count,
                           const kmm__chunk_box_t *box)
{
    for (uint32_t k = 0; k < axis_count; k++)
        if ((c->coef[k].lower || c->coef[k].length) && box->axis_hi[k] <= box->axis_lo[k])
            return true;
    return false;
}

/* Makes the region a box of two dimensions, with rows of s->pitch elements. False: a run crosses
 * the end of such a row, or the rows lie outside the array. */
static bool plan_rows(const kmm__item_t *item, const span_t *s, kmm__access_t *out,
                      kmm__layout_t *shaped)
{
    const kmm__array_t *a = item->array;
    int64_t base = item->base - a->base, extent[2] = {1, s->pitch};
    int64_t column = ((s->lo % s->pitch) + s->pitch) % s->pitch, row = (s->lo - column) / s->pitch;
    kmm__layout_t l = kmm__layout_make(2, extent, item->element, base, (int64_t)a->bytes);
    row += (base - l.origin) / l.stride[0];
    if (column + s->run > s->pitch || row < 0 || row + s->rows > l.extent[0])
        return false;
    *shaped = l;
    out->layout = shaped;
    out->box = (kmm__box_t){
        2, {row, column * item->element}, {row + s->rows, (column + s->run) * item->element}};
    return true;
}

static int plan_flat(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *chunk,
                     kmm__access_t *out, kmm__layout_t *shaped)
{
    kmm__array_t *a = item->array;
    int64_t base = item->base - a->base, bytes = (int64_t)a->bytes;
    out->layout = &a->flat;
    out->box = (kmm__box_t){.dims = 1, .hi = {bytes}};
    out->exact = true;
    if (item->section_count == 0)
        return bytes > 0;
    const kmm__section_t *c = &item->section[0];
    if (c->whole) {
        out->box.lo[0] = base;
        return base < bytes;
    }
    if (chunk_is_empty(c, axis_count, chunk))
        return 0;
    span_t s = section_span(c, axis_count, chunk);
    if (s.hi <= s.lo)
        return 0;
    if (s.rows > 1 && plan_rows(item, &s, out, shaped))
        return 1;
    out->exact = s.exact;
    out->box.lo[0] = clamp(base + s.lo * item->element, 0, bytes);
    out->box.hi[0] = clamp(base + s.hi * item->element, 0, bytes);
    return out->box.hi[0] > out->box.lo[0];
}

/* Computes the most frequent kind of region: one section over one axis, with constant length.
 * False: the item is of another kind, or its elements have gaps. */
static bool plan_line(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *chunk,
                      kmm__access_t *out, int *result)
{
    const kmm__section_t *c = &item->section[0];
    int64_t low = c->coef[0].lower, first = chunk->axis_lo[0], last = chunk->axis_hi[0] - 1;
    if (item->section_count != 1 || axis_count != 1 || c->whole || c->offsets.at ||
        c->coef[0].length || low < 0 || last < first || (low > c->constant.length && first != last))
        return false;
    const kmm__array_t *a = item->array;
    int64_t base = item->base - a->base, bytes = (int64_t)a->bytes;
    int64_t lo = c->constant.lower + low * first,
            hi = c->constant.lower + c->constant.length + low * last;
    out->layout = &a->flat;
    out->exact = true;
    out->box = (kmm__box_t){.dims = 1,
                            .lo = {clamp(base + lo * item->element, 0, bytes)},
                            .hi = {clamp(base + hi * item->element, 0, bytes)}};
    *result = hi > lo && out->box.hi[0] > out->box.lo[0];
    return true;
}

/* True if one axis is in the sections of two dimensions, as in A[i][i], and the chunk has more than
 * one index of it. Then the elements are no box, although the indices in each dimension have no
 * gap. */
static bool shares_axis(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *chunk)
{
    for (uint32_t k = 0; k < axis_count; k++) {
        uint32_t uses = 0;
        for (uint32_t d = 0; d < item->section_count; d++)
            uses += !item->section[d].whole && item->section[d].coef[k].lower != 0;
        if (uses > 1 && chunk->axis_hi[k] - chunk->axis_lo[k] > 1)
            return true;
    }
    return false;
}

/* Bytes of one step in the outermost dimension. */
static int64_t row_bytes(const kmm__item_t *item)
{
    int64_t bytes = item->element;
    for (uint32_t d = 1; d < item->dims; d++)
        bytes *= item->extent[d];
    return bytes;
}

/* Copies the item's extents. An outermost extent of KMM_WHOLE becomes the number of rows from the
 * base to the end of the array. */
static void whole_extent(const kmm__item_t *item, int64_t extent[KMM_MAX_DIMS])
{
    memcpy(extent, item->extent, sizeof(item->extent));
    int64_t bytes = row_bytes(item),
            rest = (int64_t)item->array->bytes - (item->base - item->array->base);
    if (extent[0] == KMM_WHOLE)
        extent[0] = bytes > 0 ? rest / bytes : 0;
}

static int plan_shaped(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *chunk,
                       kmm__access_t *out, kmm__layout_t *shaped)
{
    kmm__array_t *a = item->array;
    int64_t base = item->base - a->base, extent[KMM_MAX_DIMS];
    whole_extent(item, extent);
    for (uint32_t d = 0; d < item->dims; d++)
        if (extent[d] < 1)
            return extent[d] == 0 ? 0
                                  : kmm__error_set(KMM_E_RANGE, "its shape has a negative extent");
    *shaped = kmm__layout_make(item->dims, extent, item->element, base, (int64_t)a->bytes);
    out->layout = shaped;
    out->box = (kmm__box_t){.dims = item->dims};
    out->exact = !shares_axis(item, axis_count, chunk);
    /* Row of the layout that is row 0 of the shape. The layout begins at the array's beginning,
     * which may lie before the base. */
    int64_t shift = (base - shaped->origin) / shaped->stride[0];
    for (uint32_t d = 0; d < item->dims; d++) {
        const kmm__section_t *c = d < item->section_count ? &item->section[d] : NULL;
        span_t s = {0, extent[d], true, 0, 0, 0};
        if (c && !c->whole) {
            if (chunk_is_empty(c, axis_count, chunk))
                return 0;
            s = section_span(c, axis_count, chunk);
            out->exact &= s.exact;
        }
        s.lo = clamp(s.lo, 0, extent[d]);
        s.hi = clamp(s.hi, 0, extent[d]);
        if (s.hi <= s.lo)
            return 0;
        int64_t scale = d + 1 == item->dims ? item->element : 1;
        out->box.lo[d] = s.lo * scale + (d == 0 ? shift : 0);
        out->box.hi[d] = s.hi * scale + (d == 0 ? shift : 0);
    }
    kmm__box_t whole = kmm__layout_whole(shaped);
    out->box = kmm__box_intersect(&out->box, &whole);
    return !kmm__box_empty(&out->box);
}

int kmm__plan(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *chunk,
              kmm__access_t *out, kmm__layout_t *shaped)
{
    out->array = item->array;
    out->mode = item->mode;
    out->exact = false;
    out->item = KMM__MAX_ITEMS;
    int result;
    if (item->dims)
        result = plan_shaped(item, axis_count, chunk, out, shaped);
    else if (!plan_line(item, axis_count, chunk, out, &result))
        result = plan_flat(item, axis_count, chunk, out, shaped);
    /* A hull has elements that the chunk does not write. They must keep their values, so the access
     * is an update. */
    if (out->mode == KMM_WRITE && !out->exact)
        out->mode = KMM_UPDATE;
    return result;
}

bool kmm__plan_varies(const kmm__item_t *item, uint32_t axis_count)
{
    bool varies = false;
    for (uint32_t d = 0; d < item->section_count; d++)
        for (uint32_t k = 0; k < axis_count && !item->section[d].whole; k++)
            varies |= item->section[d].coef[k].lower || item->section[d].coef[k].length;
    return varies && item->mode != KMM_REDUCE;
}

/* True if indices lie outside of [0, extent), and farther away than a halo may. */
static bool is_far(const span_t *s, int64_t extent)
{
    return s->hi > s->lo && (s->hi < -FAR || s->lo > extent + FAR);
}

/* True if all numbers of the sections are too small for one that wrapped to be among them. */
static bool has_small_numbers(const kmm__item_t *item, uint32_t axis_count)
{
    uint64_t all = 0;
    for (uint32_t d = 0; d < item->section_count; d++) {
        const kmm__section_t *c = &item->section[d];
        if (c->offsets.at)
            return false;
        all |= (uint64_t)(c->constant.lower + FAR / 2);
        for (uint32_t k = 0; k < axis_count; k++)
            all |= (uint64_t)(c->coef[k].lower + FAR / 2);
    }
    return all < FAR;
}

bool kmm__plan_is_far(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *whole)
{
    int64_t extent[KMM_MAX_DIMS] = {0};
    if (has_small_numbers(item, axis_count))
        return false;
    if (item->dims)
        whole_extent(item, extent);
    for (uint32_t d = 0; d < item->section_count; d++) {
        const kmm__section_t *c = &item->section[d];
        if (c->whole || chunk_is_empty(c, axis_count, whole))
            continue;
        span_t s = section_span(c, axis_count, whole);
        if (!item->dims) { /* indices of the array, not of the pointer */
            int64_t shift = (item->base - item->array->base) / item->element;
            s.lo += shift;
            s.hi += shift;
        }
        if (is_far(&s, item->dims ? extent[d] : (int64_t)item->array->bytes / item->element))
            return true;
    }
    return false;
}

int kmm__plan_reach(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *whole,
                    int64_t *begin, int64_t *end)
{
    bool open = item->dims == 0 || item->extent[0] == KMM_WHOLE;
    int64_t unit = row_bytes(item);
    *begin = 0;
    *end = open ? 0 : unit * item->extent[0];
    if (!open)
        return 0;
    if (item->section_count == 0 || item->section[0].whole)
        return kmm__error_set(KMM_E_ADDRESS, "it is no array; how long it is must be said with "
                                             "`shape`, a section with bounds, or a `data` region");
    if (chunk_is_empty(&item->section[0], axis_count, whole))
        return 0;
    span_t s = section_span(&item->section[0], axis_count, whole);
    *begin = s.lo * unit;
    *end = s.hi * unit;
    return 0;
}

bool kmm__plan_hull(const kmm__item_t *item, uint32_t axis_count, const kmm__chunk_box_t *whole,
                    int64_t *begin, int64_t *end)
{
    int64_t first = 0, last = 0, unit = row_bytes(item);
    for (uint32_t d = 0; d < item->section_count || d < item->dims; d++) {
        const kmm__section_t *c = d < item->section_count ? &item->section[d] : NULL;
        bool known = d < item->dims && item->extent[d] != KMM_WHOLE;
        span_t s = {.hi = known ? item->extent[d] : 0};
        if (c && !c->whole) {
            if (chunk_is_empty(c, axis_count, whole))
                return false;
            s = section_span(c, axis_count, whole);
            s.lo = known ? clamp(s.lo, 0, item->extent[d]) : s.lo;
            s.hi = known ? clamp(s.hi, 0, item->extent[d]) : s.hi;
        }
        if (s.hi <= s.lo)
            return false;
        first += s.lo * unit;
        last += (s.hi - 1) * unit;
        if (d + 1 < item->dims && item->extent[d + 1] == 0)
            return false;
        unit = d + 1 < item->dims ? unit / item->extent[d + 1] : unit;
    }
    *begin = first;
    *end = last + item->element;
    return item->section_count > 0;
}
