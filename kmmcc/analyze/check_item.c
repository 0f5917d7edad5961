/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the items of a directive: their bases, shapes and sections. */
#include "analyze/check_item.h"

#include <stdbool.h>
#include <string.h>

#include "analyze/check_overlap.h"
#include "analyze/check_scalar.h"
#include "analyze/check_section.h"
#include "analyze/extent.h"
#include "analyze/reduce.h"
#include "analyze/suggest.h"
#include "base/diag.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "kmm/launch.h"
#include "pragma/expression.h"

/* The address that a program holds of an array is mapped on no device, so a kernel cannot use one
 * that it finds in an array. */
static void check_stored_pointers(unit_t *u, const directive_t *d, const item_t *item,
                                  CXType element)
{
    if (d->is_kernel && type_holds_pointers(element))
        diag_at(SEVERITY_WARNING, u->source, item->base->begin, item->base->end,
                "the elements of '%s' hold pointers, and one to managed memory means nothing to a "
                "kernel that finds it in an array; pass the arrays "
                "as arguments, or in a struct by value [-Wkmm-pointers]",
                unit_words(u, item->base->begin, item->base->end));
}

void check_no_memory(unit_t *u, size_t begin, size_t end, const char *text, CXType type)
{
    unit_error(u, begin, end,
               "'%s' is no pointer or array, but '%s'; a variable's memory is (&%s)[0:1]", text,
               clang_text(clang_getTypeSpelling(type)), text);
}

static bool check_base(unit_t *u, const directive_t *d, item_t *item)
{
    const expr_t *e = item->base;
    const char *text = unit_words(u, e->begin, e->end);
    CXType type = clang_getCanonicalType(e->type);
    if (type.kind == CXType_LValueReference)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    if (!check_calls(u, d, e))
        return false;
    if (type_is_dependent(type))
        return true;
    if (type.kind != CXType_Pointer && !type_is_array(type)) {
        check_no_memory(u, e->begin, e->end, text, e->type);
        return false;
    }
    CXType element = type_pointee(type);
    for (; type_is_array(element); element = type_pointee(element))
        item->inner_dims++;
    if (element.kind == CXType_Void && item->section_count) {
        unit_error(u, e->begin, e->end,
                   "'%s' points to void, whose elements have no size; cast it, as in ((char *)%s)",
                   text, text);
        return false;
    }
    if (item->mode != KMM_READ && clang_isConstQualifiedType(element)) {
        unit_error(u, e->begin, e->end,
                   "'%s' points to const elements, which a launch can only read; say read(%s)",
                   text, unit_words(u, item->begin, item->end));
        suggest_word(item, "read");
        return false;
    }
    check_stored_pointers(u, d, item, element);
    return true;
}

/* An inferred item may index the pointer as the kernel's code does, without the shape's dimensions.
 */
static void find_shape(unit_t *u, directive_t *d, item_t *item)
{
    for (int k = 0; k < d->shape_count; k++) {
        shape_t *shape = &d->shape[k];
        if (strcmp(unit_words(u, shape->name.begin, shape->name.end),
                   unit_words(u, item->base->begin, item->base->end)) != 0)
            continue;
        shape->used = true;
        if (!item->inferred || !item->section_count || item->section_count == shape->dims)
            item->shape = shape;
    }
}

/* The only axis in an index, when it begins at 0 and its range is given; NULL otherwise. */
static const axis_t *axis_within(const directive_t *d, const expr_t *e)
{
    const axis_t *found = NULL;
    for (int k = 0; k < d->axis_count; k++) {
        directive_t one = {.axis_count = 1};
        one.axis[0] = d->axis[k];
        if (!section_has_axis(&one, e))
            continue;
        if (found)
            return NULL;
        found = &d->axis[k];
    }
    return found && found->length && found->lower->kind == EXPR_NUMBER && found->lower->value == 0
               ? found
               : NULL;
}

/* The dimensions of a flat pointer, when each index moves with an axis: their ranges. */
static void suggest_shape(const unit_t *u, const directive_t *d, const item_t *item,
                          const char *base)
{
    text_t shape = {0};
    text_printf(&shape, "shape(%s", base);
    for (int k = 0; k < item->section_count; k++) {
        const axis_t *axis = item->section[k].lower ? axis_within(d, item->section[k].lower) : NULL;
        if (!axis)
            return;
        text_printf(&shape, "[%s]", unit_words(u, axis->length->begin, axis->length->end));
    }
    text_add(&shape, ")", 1);
    suggest_clause(u, d, "if its dimensions are the ranges of the axes", shape.data);
}

static void check_rank(unit_t *u, const directive_t *d, item_t *item)
{
    const char *base = unit_words(u, item->base->begin, item->base->end);
    int dims = item->shape ? item->shape->dims : item->inner_dims + 1;
    if (!item->section_count || item->section_count == dims ||
        (type_is_dependent(item->base->type) && !item->shape))
        return;
    CXType element = type_pointee(clang_getCanonicalType(item->base->type));
    if (!item->shape && clang_getCanonicalType(element).kind == CXType_Pointer) {
        unit_error(
            u, item->begin, item->end,
            "'%s' has %d sections, but '%s' points to pointers; name the row in parentheses, "
            "as in (%s[k])[i]",
            unit_words(u, item->begin, item->end), item->section_count, base, base);
        return;
    }
    if (!item->shape && !item->inner_dims) {
        text_t dots = {0};
        for (int k = 0; k < item->section_count; k++)
            text_add(&dots, "[...]", 5);
        unit_error(
            u, item->begin, item->end,
            "'%s' has %d sections, but '%s' is a flat pointer; give it dimensions with shape(%s%s)",
            unit_words(u, item->begin, item->end), item->section_count, base, base,
            item->section_count == 2   ? "[height][width]"
            : item->section_count == 3 ? "[depth][height][width]"
                                       : dots.data);
        suggest_shape(u, d, item, base);
        return;
    }
    unit_error(u, item->begin, item->end, "'%s' has %d section%s, but '%s' has %d dimension%s",
               unit_words(u, item->begin, item->end), item->section_count,
               item->section_count == 1 ? "" : "s", base, dims, dims == 1 ? "" : "s");
    text_t rest = {0};
    for (int k = item->section_count; k < dims; k++)
        text_add(&rest, "[:]", 3);
    if (rest.length)
        diag_fix(item->end, item->end, rest.data);
    else
        diag_fix(item->section[dims].begin, item->end, "");
}

/* libkmm joins each dimension that is taken whole with the one outside it (runtime/launch/join.c).
 * It joins none with an outermost dimension of unknown extent: that of a pointer to arrays. */
static void check_joined(unit_t *u, const item_t *item)
{
    bool is_open = !item->shape && clang_getCanonicalType(item->base->type).kind == CXType_Pointer;
    int left = 1;
    for (int k = 1; k < item->section_count; k++)
        left += item->section[k].lower || (k == 1 && is_open);
    if (left > KMM_MAX_JOINED)
        unit_error(
            u, item->begin, item->end,
            "'%s' has %d dimensions where each [:] is joined with the dimension before it%s, "
            "and at most %d may be left; take more of them whole",
            unit_words(u, item->begin, item->end), left,
            is_open && !item->section[1].lower ? " (the first has no known extent)" : "",
            KMM_MAX_JOINED);
}

static void check_reduce(unit_t *u, item_t *item)
{
    CXType element = type_pointee(item->base->type);
    while (type_is_array(element))
        element = type_pointee(element);
    if (type_is_dependent(element)) {
        unit_error(
            u, item->begin, item->end,
            "the type of a reduction's elements depends on a template, which is not yet supported");
        return;
    }
    reduce_check(u, item, item->base->type);
}

static void check_item(unit_t *u, directive_t *d, item_t *item)
{
    int errors = diag_error_count();
    item->root = cursor_root(item->base->cursor);
    if (!check_base(u, d, item))
        return;
    find_shape(u, d, item);
    if (!d->is_kernel)
        extent_add(item, item->base->cursor);
    check_rank(u, d, item);
    if (errors == diag_error_count())
        check_joined(u, item);
    for (int k = 0; k < item->section_count; k++)
        check_section(u, d, item, &item->section[k]);
    if (item->mode == KMM_REDUCE)
        check_reduce(u, item);
    if ((item->mode == KMM_WRITE || item->mode == KMM_UPDATE) && errors == diag_error_count())
        check_overlap(u, d, item);
}

void check_items(unit_t *u, directive_t *d)
{
    for (int k = 0; k < d->item_count; k++)
        check_item(u, d, &d->item[k]);
    for (int k = 0; k < d->shape_count; k++)
        if (!d->shape[k].used)
            unit_error(u, d->shape[k].begin, d->shape[k].end,
                       "no item is based on '%s'; shape names the base of an item of read, write, "
                       "update or reduce",
                       unit_words(u, d->shape[k].name.begin, d->shape[k].name.end));
}
