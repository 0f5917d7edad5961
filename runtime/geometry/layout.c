/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: bytes of boxes, and boxes of bytes. */
#include "geometry/layout.h"

#include <string.h>

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

kmm__layout_t kmm__layout_make(uint32_t dims, const int64_t *extent, int64_t element_bytes,
                               int64_t offset, int64_t bytes)
{
    kmm__layout_t l = {.dims = dims, .bytes = bytes};
    if (dims == 1)
        return kmm__layout_flat(bytes);
    l.stride[dims - 1] = 1;
    l.extent[dims - 1] = extent[dims - 1] * element_bytes;
    for (uint32_t d = dims - 1; d-- > 0;) {
        l.stride[d] = l.stride[d + 1] * l.extent[d + 1];
        l.extent[d] = extent[d];
    }
    int64_t lead = offset % l.stride[0];
    l.origin = lead ? lead - l.stride[0] : 0;
    l.extent[0] = (bytes - l.origin + l.stride[0] - 1) / l.stride[0];
    return l;
}

/* Strides follow from extents. */
bool kmm__layout_equal(const kmm__layout_t *a, const kmm__layout_t *b)
{
    if (a->dims != b->dims || a->bytes != b->bytes || a->origin != b->origin ||
        a->extent[0] != b->extent[0])
        return false;
    return a->dims == 1 || !memcmp(a->extent, b->extent, a->dims * sizeof(*a->extent));
}

void kmm__layout_hull(const kmm__layout_t *l, const kmm__box_t *b, int64_t *begin, int64_t *end)
{
    int64_t first = l->origin, last = l->origin;
    for (uint32_t d = 0; d < l->dims; d++) {
        first += b->lo[d] * l->stride[d];
        last += (b->hi[d] - 1) * l->stride[d];
    }
    *begin = max64(first, 0);
    *end = max64(*begin, min64(last + 1, l->bytes));
}

bool kmm__layout_contiguous(const kmm__layout_t *l, const kmm__box_t *b, int64_t *begin,
                            int64_t *end)
{
    uint32_t d = 0;
    /* A contiguous box is one index in the outer dimensions, a range in one, and all of those
     * within. */
    while (d < l->dims && b->hi[d] - b->lo[d] == 1)
        d++;
    for (d++; d < l->dims; d++)
        if (b->lo[d] != 0 || b->hi[d] != l->extent[d])
            return false;
    kmm__layout_hull(l, b, begin, end);
    return true;
}

/* Writes the linear range [first, last) of dimensions d, d + 1, ... to out, as boxes whose indices
 * in the dimensions before d are those of `prefix`. Returns their number. A range that is no whole
 * number of rows of dimension d is cut into a partial first row, whole rows, and a partial last
 * row. */
static int split_from(const kmm__layout_t *l, uint32_t d, kmm__box_t *prefix, int64_t first,
                      int64_t last, kmm__box_t *out)
{
    if (first >= last)
        return 0;
    int64_t stride = l->stride[d], a = first / stride, b = last / stride;
    int n = 0;
    for (uint32_t k = d; k < l->dims; k++) {
        prefix->lo[k] = 0;
        prefix->hi[k] = l->extent[k];
    }
    if (first % stride == 0 && last % stride == 0) {
        prefix->lo[d] = a;
        prefix->hi[d] = b;
        out[0] = *prefix;
        return 1;
    }
    kmm__box_t row = *prefix;
    row.lo[d] = a;
    row.hi[d] = a + 1;
    if (a == b)
        return split_from(l, d + 1, &row, first - a * stride, last - a * stride, out);
    if (first % stride) {
        n += split_from(l, d + 1, &row, first - a * stride, stride, out + n);
        a++;
    }
    if (a < b) {
        out[n] = *prefix;
        out[n].lo[d] = a;
        out[n++].hi[d] = b;
    }
    row.lo[d] = b;
    row.hi[d] = b + 1;
    return n + split_from(l, d + 1, &row, 0, last - b * stride, out + n);
}

int kmm__layout_split(const kmm__layout_t *l, int64_t begin, int64_t end,
                      kmm__box_t out[2 * KMM__DIMS])
{
    kmm__box_t prefix = {.dims = l->dims};
    begin = max64(begin, 0);
    end = min64(end, l->bytes);
    return split_from(l, 0, &prefix, begin - l->origin, end - l->origin, out);
}

/* The arguments of kmm__layout_rows. */
typedef struct rows_call {
    const kmm__layout_t *layout;
    int (*fn)(void *ctx, const kmm__rows_t *rows);
    void *ctx;
} rows_call_t;

/* Calls fn with those bytes of r that the array has. A partial first or last row is a call of its
 * own. */
static int rows_emit(const rows_call_t *c, kmm__rows_t r)
{
    int64_t bytes = c->layout->bytes;
    if (r.count == 1) {
        int64_t end = min64(r.offset + r.width, bytes);
        r.offset = max64(r.offset, 0);
        r.width = end - r.offset;
        r.pitch = r.width;
        return r.width > 0 ? c->fn(c->ctx, &r) : 0;
    }
    if (r.offset < 0) {
        int error = rows_emit(c, (kmm__rows_t){r.offset, r.width, r.width, 1});
        r.offset += r.pitch;
        r.count--;
        return error ? error : rows_emit(c, r);
    }
    if (r.offset + (r.count - 1) * r.pitch + r.width > bytes) {
        int64_t last = r.offset + (r.count - 1) * r.pitch;
        r.count--;
        int error = rows_emit(c, r);
        return error ? error : rows_emit(c, (kmm__rows_t){last, r.width, r.width, 1});
    }
    return c->fn(c->ctx, &r);
}

/* Emits the rows of the box in dimensions d to `inner`. `offset` is the byte at which index 0 of
 * dimension d begins, for the outer indices chosen so far. `width` is the length of a run in bytes.
 */
static int rows_from(const rows_call_t *c, uint32_t d, uint32_t inner, const kmm__box_t *b,
                     int64_t offset, int64_t width)
{
    const kmm__layout_t *l = c->layout;
    if (d > inner || inner >= KMM__DIMS) /* never true; tells compilers where recursion ends */
        return 0;
    int64_t n = b->hi[d] - b->lo[d];
    offset += b->lo[d] * l->stride[d];
    if (d == inner)
        return rows_emit(c, (kmm__rows_t){offset, width, width, 1});
    if (d + 1 == inner)
        return rows_emit(c, (kmm__rows_t){offset + b->lo[inner] * l->stride[inner], width,
                                          n == 1 ? width : l->stride[d], n});
    for (int64_t k = 0; k < n; k++) {
        int error = rows_from(c, d + 1, inner, b, offset + k * l->stride[d], width);
        if (error)
            return error;
    }
    return 0;
}

int kmm__layout_rows(const kmm__layout_t *l, const kmm__box_t *b,
                     int (*fn)(void *ctx, const kmm__rows_t *rows), void *ctx)
{
    rows_call_t c = {l, fn, ctx};
    /* the outermost dimension whose indices are contiguous in memory */
    uint32_t inner = l->dims - 1;
    if (kmm__box_empty(b))
        return 0;
    while (inner > 0 && b->lo[inner] == 0 && b->hi[inner] == l->extent[inner])
        inner--;
    int64_t width = (b->hi[inner] - b->lo[inner]) * l->stride[inner];
    return rows_from(&c, 0, inner, b, l->origin, width);
}
