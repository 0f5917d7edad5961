/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes items for the bytes that the graph accesses through a pointer. The region of a read may be
 * wider than what is read. The region of a store must be exact, because another chunk may store to
 * the elements beside it. So it must be a run of neighbouring elements, or a run of one length in
 * each of several rows.
 */
#include "analyze/region.h"

#include <stddef.h>
#include <string.h>

#include "analyze/region_rows.h"
#include "analyze/region_text.h"
#include "base/arena.h"
#include "clang/cursor.h"

enum { MOST_ITEMS = 24 };

/* ---- Ranges ---- */

/* True if the guard is `range - 1 - index >= 0` for an index of the grid along the dimension. Then
 * *range and *index receive the range and the index. */
static bool is_range(footprint_t *x, poly_t guard, int dimension, poly_t *range, int *index)
{
    for (int k = 0; k < x->atom_count; k++) {
        poly_t coef, rest;
        int64_t by;
        bool grid = x->atom[k].kind == ATOM_GLOBAL || x->atom[k].kind == ATOM_STRIDE;
        if (!grid || affine_dimension(x, k) != dimension || !poly_split(guard, k, &coef, &rest) ||
            !poly_is_constant(coef, &by) || by != -1 || affine_has_index(x, rest))
            continue;
        *range = poly_add(rest, poly_constant(1));
        *index = k;
        return true;
    }
    return false;
}

/* Sets *index to the index of the dimension that p depends on; -1: there is none. Returns false if
 * p depends on several. */
static bool index_in(const footprint_t *x, poly_t p, int dimension, int *index)
{
    *index = -1;
    for (int k = 0; k < x->atom_count; k++) {
        if (affine_dimension(x, k) != dimension || !poly_has(p, k))
            continue;
        if (*index >= 0)
            return false;
        *index = k;
    }
    return true;
}

/* True if a guard of the box keeps the index in the range. `index` -1: any index of the dimension
 * will do. */
static bool has_range(footprint_t *x, const box_t *b, int dimension, int index, poly_t range)
{
    poly_t other;
    int of;
    for (int k = 0; k < b->rest.count; k++)
        if (is_range(x, b->rest.at[k], dimension, &other, &of) && (index < 0 || of == index) &&
            poly_equal(range, other))
            return true;
    return false;
}

/* True if a guard keeps the index on which the box's lower end depends in the range, which is to be
 * the axis's. */
static bool is_in_range(footprint_t *x, const box_t *b, int dimension, poly_t range)
{
    int index = -1;
    return (b->reason || index_in(x, b->lower, dimension, &index)) &&
           has_range(x, b, dimension, index >= 0 && x->atom[index].kind == ATOM_STRIDE ? index : -1,
                     range);
}

/* True if the box has the same bytes for all indices of the dimension. */
static bool is_apart(const footprint_t *x, const box_t *b, int dimension)
{
    for (int k = 0; k < x->atom_count && !b->reason; k++)
        if (affine_dimension(x, k) == dimension && (poly_has(b->lower, k) || poly_has(b->span, k)))
            return false;
    return !b->reason;
}

static bool guards_all(footprint_t *x, int dimension, poly_t range)
{
    for (const box_t *b = x->box; b; b = b->next)
        if (!is_apart(x, b, dimension) && !is_in_range(x, b, dimension, range))
            return false;
    return true;
}

static bool is_used(const footprint_t *x, int atom)
{
    for (const box_t *b = x->box; b; b = b->next) {
        if (!b->reason && (poly_has(b->lower, atom) || poly_has(b->span, atom)))
            return true;
        for (int k = 0; k < b->rest.count; k++)
            if (poly_has(b->rest.at[k], atom))
                return true;
    }
    return false;
}

/* Looks for a guard of the box that keeps axis d in a range, and sets that range if it guards all
 * other boxes that depend on the axis. */
static void find_bound(infer_t *f, footprint_t *x, const box_t *b, int d)
{
    for (int k = 0; k < b->rest.count && !f->bound[d].count; k++) {
        poly_t range;
        int index;
        bool used = f->used[d];
        if (!is_range(x, b->rest.at[k], d, &range, &index) || !guards_all(x, d, range))
            continue;
        const char *text = region_text(f, x, range);
        f->used[d] = used;
        if (!text)
            continue;
        f->bound[d] = range;
        if (!f->range[d])
            f->range[d] = text;
    }
}

bool region_ranges(infer_t *f, footprint_t *x)
{
    bool agrees = true;
    for (int k = 0; k < x->atom_count; k++)
        if (x->atom[k].kind == ATOM_STRIDE && is_used(x, k)) {
            f->strides = true;
            agrees &= !f->range[affine_dimension(x, k)];
        }
    for (int d = 0; d < 3; d++)
        for (const box_t *b = x->box; b && !f->bound[d].count; b = b->next)
            find_bound(f, x, b, d);
    return agrees;
}

/* ---- Items ---- */

typedef struct region {
    poly_t lower, length; /* in elements */
    poly_t row, rows;     /* of regions in rows: `lower` is then the first column */
    bool reads, stores, always;
} region_t;

typedef struct regions {
    infer_t *f;
    footprint_t *x;
    long long element;
    int inner_dims; /* of an element that is an array */
    region_t at[MOST_ITEMS];
    int count;
    bool in_rows;         /* the pointer gets a shape */
    poly_t height, width; /* of the shape */
} regions_t;

static const char *const leaves_out = "stores that leave elements out";

/* Converts the bytes of the box to elements, rounded outwards. False: its ends are no multiples of
 * the element's size plus a constant. *whole: nothing was rounded. */
static bool in_elements(const regions_t *r, const box_t *b, region_t *out, bool *whole)
{
    int64_t e = r->element, first = poly_constant_term(b->lower) % e;
    first += first < 0 ? e : 0;
    poly_t span = poly_add(b->span, poly_constant(first));
    int64_t over = poly_constant_term(span) % e;
    over += over < 0 ? e : 0;
    *whole = first == 0 && over == 0;
    return poly_divide(poly_sub(b->lower, poly_constant(first)), e, &out->lower) &&
           poly_divide(poly_add(span, poly_constant(over ? e - over : 0)), e, &out->length);
}

/* True if the guard is the range of an axis on which the box's lower end depends. */
static bool is_axis(const regions_t *r, const box_t *b, poly_t guard)
{
    for (int d = 0; d < 3; d++) {
        int index, of;
        poly_t range;
        if (r->f->bound[d].count && index_in(r->x, b->lower, d, &index) && index >= 0 &&
            is_range(r->x, guard, d, &range, &of) && of == index &&
            poly_equal(range, r->f->bound[d]))
            return true;
    }
    return false;
}

/* True if every thread in the ranges of the axes makes the access; without guards: every thread. */
static bool is_always(const regions_t *r, const box_t *b)
{
    for (int k = 0; k < b->rest.count; k++)
        if (b->uses_block || !is_axis(r, b, b->rest.at[k]))
            return false;
    for (int d = 0; d < 3; d++) {
        int index;
        /* The launch is not `bounded`, so a range may be longer than the grid. */
        if (!index_in(r->x, b->lower, d, &index) ||
            (r->f->strides && index >= 0 && r->x->atom[index].kind == ATOM_GLOBAL))
            return false;
    }
    return (b->dense || r->in_rows) && b->exact && !b->rest.holes && r->f->certain;
}

/* True if an axis stands for each index of the box, and threads outside of the axes' ranges cannot
 * make the region larger than the array. */
static bool is_bounded(const regions_t *r, const box_t *b)
{
    for (int d = 0; d < 3; d++) {
        int index, wide;
        if (!index_in(r->x, b->lower, d, &index) || !index_in(r->x, b->span, d, &wide) ||
            (wide >= 0 && index >= 0 && wide != index))
            return false;
        index = index >= 0 ? index : wide;
        atom_kind_t kind = index >= 0 ? r->x->atom[index].kind : ATOM_BLOCK;
        if ((kind == ATOM_STRIDE && !r->f->bound[d].count) ||
            (kind == ATOM_GLOBAL && !r->f->range[d] &&
             (b->rest.count || b->rest.holes || b->rest.incomplete)))
            return false;
    }
    return true;
}

/* The box assumes of some sizes that they are not negative. Makes each such assumption a condition
 * of the launch. False: a clause cannot express it. */
static bool demand_sizes(const regions_t *r, box_t *b)
{
    for (int k = 0; k < b->assumed_count; k++)
        if (!region_text(r->f, r->x, b->assumed[k]) || !region_demand(r->x, b, b->assumed[k]))
            return false;
    return true;
}

/* Converts the box to rows. False: it has no rows, or rows of another width than the boxes before,
 * or heights that differ by no constant. Makes the shape as high as the highest box. */
static bool in_shape(regions_t *r, box_t *b, region_t *out, bool *whole)
{
    rows_t rows;
    if (!region_rows(r->x, b, r->element, &rows))
        return false;
    poly_t height = poly_add(rows.row, rows.rows);
    int64_t more = 1;
    if (r->count && (!poly_equal(rows.width, r->width) ||
                     !poly_is_constant(poly_sub(height, r->height), &more)))
        return false;
    r->height = more > 0 ? height : r->height;
    r->width = rows.width;
    out->row = rows.row;
    out->rows = rows.rows;
    out->lower = rows.column;
    out->length = rows.columns;
    *whole = rows.whole;
    return !height.fails;
}

static bool is_same(const regions_t *r, const region_t *a, const region_t *b)
{
    return poly_equal(a->lower, b->lower) && poly_equal(a->length, b->length) &&
           (!r->in_rows || (poly_equal(a->row, b->row) && poly_equal(a->rows, b->rows)));
}

static const char *add_box(regions_t *r, box_t *b)
{
    bool whole, reads = b->access->kind == IR_READ && !b->access->after_write,
                stores = b->access->kind != IR_READ;
    region_t new = {.reads = reads || b->access->kind == IR_ATOMIC, .stores = stores};
    if (b->reason)
        return b->reason;
    if (!demand_sizes(r, b))
        return "a size that may be negative";
    if (r->in_rows ? !in_shape(r, b, &new, &whole) : !in_elements(r, b, &new, &whole))
        return r->in_rows ? leaves_out : "an access that begins within an element";
    if (!is_bounded(r, b))
        return "an index that no condition keeps in the array";
    if (stores && !r->in_rows && !region_is_run(b, r->element))
        return leaves_out;
    if (stores && !affine_has_index(r->x, b->lower))
        return "all chunks store to the same elements";
    new.always = b->access->kind == IR_WRITE && whole && is_always(r, b);
    for (int k = 0; k < r->count; k++) {
        region_t *old = &r->at[k];
        if (!is_same(r, old, &new))
            continue;
        old->reads |= new.reads;
        old->stores |= new.stores;
        old->always |= new.always;
        return NULL;
    }
    if (r->count == MOST_ITEMS)
        return "too many different accesses";
    r->at[r->count++] = new;
    return NULL;
}

/* Joins reads that touch, such as A[i - 1], A[i] and A[i + 1]. */
static void join_reads(regions_t *r)
{
    for (int a = 0; a < r->count; a++)
        for (int b = 0; b < r->count; b++) {
            region_t *x = &r->at[a], *y = &r->at[b];
            int64_t apart, first, second;
            if (a == b || x->stores || y->stores || !poly_is_constant(x->length, &first) ||
                !poly_is_constant(y->length, &second) ||
                !poly_is_constant(poly_sub(y->lower, x->lower), &apart) || apart < 0 ||
                apart > first)
                continue;
            x->length = poly_constant(first > apart + second ? first : apart + second);
            *y = r->at[--r->count];
            a = b = -1;
            break;
        }
}

static bool reads_elsewhere(const regions_t *r, const region_t *but)
{
    for (int k = 0; k < r->count; k++)
        if (&r->at[k] != but && r->at[k].reads)
            return true;
    return false;
}

/* Returns `[lower:length]`; NULL: clauses cannot express an end. */
static const char *section_text(const regions_t *r, poly_t lower, poly_t length)
{
    int64_t many = 0;
    const char *from = region_text(r->f, r->x, lower), *count = region_text(r->f, r->x, length);
    if (!from || !count)
        return NULL;
    return poly_is_constant(length, &many) && many == 1 ? arena_printf("[%s]", from)
                                                        : arena_printf("[%s:%s]", from, count);
}

static const char *write_items(const regions_t *r, const char *name, text_t *out)
{
    static const char *const unnamed = "an index with a parameter that clauses cannot name";
    if (r->in_rows) {
        const char *height = region_text(r->f, r->x, r->height),
                   *width = region_text(r->f, r->x, r->width);
        if (!height || !width)
            return unnamed;
        text_printf(out, " shape(%s[%s][%s])", name, height, width);
    }
    for (int k = 0; k < r->count; k++) {
        const region_t *a = &r->at[k];
        const char *section = section_text(r, a->lower, a->length),
                   *row = r->in_rows ? section_text(r, a->row, a->rows) : "";
        if (!section || !row)
            return unnamed;
        const char *word = !a->stores                                         ? "read"
                           : a->always && !a->reads && !reads_elsewhere(r, a) ? "write"
                                                                              : "update";
        text_printf(out, " %s(%s%s%s", word, name, row, section);
        for (int i = 0; i < r->inner_dims; i++)
            text_printf(out, "[:]");
        text_printf(out, ")");
    }
    return NULL;
}

static const char *unknown_of(const ir_function_t *f, int number)
{
    for (int k = 0; k < f->unknown_count; k++)
        if (f->unknown[k].param < 0 || f->unknown[k].param == number)
            return f->unknown[k].reason;
    return NULL;
}

static const char *add_boxes(regions_t *r, int number, int member)
{
    const char *reason = NULL;
    r->count = 0;
    for (box_t *b = r->x->box; b && !reason; b = b->next)
        if (b->access->param == number && b->access->member == member)
            reason = add_box(r, b);
    return reason;
}

/* Adds the clauses of one pointer, which is the parameter or a member of it. */
static const char *add_pointer(infer_t *f, footprint_t *x, int number, int member, text_t *out)
{
    regions_t r = {.f = f, .x = x};
    CXType type = clang_getArgType(clang_getCursorType(f->instance), (unsigned)number);
    const char *name = f->n->name[number], *reason = unknown_of(x->f, number);
    if (!reason && member >= 0 && !type_has_public_pointer_at(type, member))
        reason = "a pointer in a struct, which the launch cannot name";
    if (!reason && member >= 0)
        name = arena_printf("%s.%s", name, type_member_at(type, member, &type));
    r.element = clang_Type_getSizeOf(type_pointee(type));
    for (CXType e = type_pointee(type); type_is_array(e); e = type_pointee(e))
        r.inner_dims++;
    if (!reason && r.element <= 0)
        reason = "elements of no size";
    if (!reason)
        reason = add_boxes(&r, number, member);
    if (reason == leaves_out) {
        r.in_rows = true;
        reason = add_boxes(&r, number, member);
    }
    if (!reason && !r.count)
        reason = "it is not accessed";
    if (reason)
        return reason;
    if (!r.in_rows)
        join_reads(&r);
    return write_items(&r, name, out);
}

/* ---- Reductions ---- */

/* True if an atomic operation on elements of type `name` combines values as a reduction over `type`
 * does. `name`: the letter by which the C++ ABI abbreviates the type. Of operators on
 * floating-point numbers, only addition counts. */
static bool is_of_type(CXType type, char name, ir_combine_t combine)
{
    bool adds = combine == IR_COMBINE_ADD,
         ordered = combine == IR_COMBINE_MIN || combine == IR_COMBINE_MAX;
    bool is_int = name == 'i', is_unsigned = name == 'j', is_long = name == 'l' || name == 'x',
         is_great = name == 'm' || name == 'y';
    switch (clang_getCanonicalType(type).kind) {
    case CXType_Int: return is_int || (is_unsigned && !ordered);
    case CXType_UInt: return is_unsigned || (is_int && !ordered);
    case CXType_Long:
    case CXType_LongLong: return is_long || (is_great && !ordered);
    case CXType_ULong:
    case CXType_ULongLong: return is_great || (is_long && !ordered);
    case CXType_Float: return adds && name == 'f';
    case CXType_Double: return adds && name == 'd';
    default: return false;
    }
}

/* Returns the text of the operator that all accesses through the parameter combine by. NULL: there
 * is another access or operator. */
static const char *operator_of(const infer_t *f, const footprint_t *x, int number)
{
    static const char *const word[] = {NULL, "+", NULL, "min", "max", "&", "|", "^"};
    CXType type =
        type_pointee(clang_getArgType(clang_getCursorType(f->instance), (unsigned)number));
    ir_combine_t combine = IR_COMBINE_UNKNOWN;
    for (const box_t *b = x->box; b; b = b->next) {
        const ir_access_t *a = b->access;
        if (a->param != number)
            continue;
        if (a->kind != IR_ATOMIC || a->member >= 0 || a->uses_result ||
            (combine != IR_COMBINE_UNKNOWN && a->combine != combine) ||
            !is_of_type(type, a->element, a->combine))
            return NULL;
        combine = a->combine;
    }
    return word[combine];
}

/* Adds the region of a box of a reduction's target. The region may be wider than what is combined,
 * because a reduction leaves other elements as they are. */
static const char *add_reduced(regions_t *r, box_t *b)
{
    bool whole;
    region_t new = {.stores = true};
    if (b->reason)
        return b->reason;
    if (!demand_sizes(r, b))
        return "a size that may be negative";
    if (!in_elements(r, b, &new, &whole) || affine_has_index(r->x, b->lower) ||
        affine_has_index(r->x, b->span))
        return "elements that differ between threads";
    for (int k = 0; k < r->count; k++)
        if (is_same(r, &r->at[k], &new))
            return NULL;
    if (r->count == MOST_ITEMS)
        return "too many different accesses";
    r->at[r->count++] = new;
    return NULL;
}

bool region_reduce(infer_t *f, footprint_t *x, int number, text_t *out)
{
    regions_t r = {.f = f, .x = x};
    const char *op = unknown_of(x->f, number) ? NULL : operator_of(f, x, number), *reason = NULL;
    text_t clauses = {0};
    if (!op)
        return false;
    r.element = clang_Type_getSizeOf(
        type_pointee(clang_getArgType(clang_getCursorType(f->instance), (unsigned)number)));
    for (box_t *b = x->box; b && !reason; b = b->next)
        if (b->access->param == number)
            reason = add_reduced(&r, b);
    for (int k = 0; k < r.count && !reason; k++) {
        const char *section = section_text(&r, r.at[k].lower, r.at[k].length);
        if (!section)
            return false;
        text_printf(&clauses, " reduce(%s: %s%s)", op, f->n->name[number], section);
    }
    if (!reason && r.count)
        text_add(out, clauses.data, clauses.length);
    return !reason && r.count;
}

/* ---- Parameters ---- */

/* The least member of the parameter from `from` on through which the kernel accesses memory; -1:
 * there is none. */
static int next_member(const footprint_t *x, int number, int from)
{
    int next = -1;
    for (const box_t *b = x->box; b; b = b->next) {
        int member = b->access->param == number ? b->access->member : -1;
        if (member >= from && (next < 0 || member < next))
            next = member;
    }
    return next;
}

const char *region_add(infer_t *f, footprint_t *x, int number, text_t *out)
{
    bool used[3], blocks[3];
    text_t clauses = {0};
    text_add(&clauses, "", 0);
    memcpy(used, f->used, sizeof(used));
    memcpy(blocks, f->uses_block, sizeof(blocks));
    int member = next_member(x, number, 0);
    const char *reason = member < 0 ? add_pointer(f, x, number, -1, &clauses) : NULL;
    for (; member >= 0 && !reason; member = next_member(x, number, member + 1))
        reason = add_pointer(f, x, number, member, &clauses);
    if (reason) {
        memcpy(f->used, used, sizeof(used));
        memcpy(f->uses_block, blocks, sizeof(blocks));
        return reason;
    }
    text_add(out, clauses.data, clauses.length);
    return NULL;
}
