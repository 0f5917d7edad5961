/* SPDX-License-Identifier: Apache-2.0 */
/* Reads sections as affine functions of the axes, and checks them. */
#include "analyze/check_section.h"

#include <string.h>

#include "analyze/check_scalar.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "clang/cursor.h"
#include "pragma/form.h"

static int axis_of(const directive_t *d, const expr_t *e)
{
    for (int k = 0; e->kind == EXPR_NAME && k < d->axis_count; k++)
        if (!strcmp(e->op, d->axis[k].name))
            return k;
    return -1;
}

bool section_has_axis(const directive_t *d, const expr_t *e)
{
    for (; e; e = e->next)
        if (axis_of(d, e) >= 0 || section_has_axis(d, e->left) || section_has_axis(d, e->right) ||
            section_has_axis(d, e->other))
            return true;
    return false;
}

static bool is_number(const affine_t *a, long long *value)
{
    for (int k = 0; k < KMM_MAX_AXES; k++)
        if (!a->coef[k].known || a->coef[k].value)
            return false;
    *value = a->constant.value;
    return a->constant.known;
}

bool section_is_fixed(const item_t *item, long long *first, long long *count)
{
    return item->section_count == 1 && item->section[0].lower &&
           is_number(&item->section[0].lower_form, first) &&
           is_number(&item->section[0].length_form, count);
}

static affine_t affine_number(long long value)
{
    affine_t a = {.constant = form_number(value)};
    for (int k = 0; k < KMM_MAX_AXES; k++)
        a.coef[k] = form_number(0);
    return a;
}

static affine_t affine_combine(affine_t a, affine_t b, form_t (*combine)(form_t, form_t))
{
    a.constant = combine(a.constant, b.constant);
    for (int k = 0; k < KMM_MAX_AXES; k++)
        a.coef[k] = combine(a.coef[k], b.coef[k]);
    return a;
}

static affine_t affine_scale(affine_t a, form_t factor)
{
    a.constant = form_multiply(a.constant, factor);
    for (int k = 0; k < KMM_MAX_AXES; k++)
        a.coef[k] = form_multiply(a.coef[k], factor);
    return a;
}

/* NULL, or the part of the expression that is not affine. */
static const expr_t *affine(const unit_t *u, const directive_t *d, const expr_t *e, affine_t *out);

static const expr_t *affine_product(const unit_t *u, const directive_t *d, const expr_t *e,
                                    affine_t *out)
{
    bool left = section_has_axis(d, e->left);
    if (left && section_has_axis(d, e->right))
        return e;
    const expr_t *wrong = affine(u, d, left ? e->left : e->right, out);
    *out = affine_scale(*out, form_of(u->source, left ? e->right : e->left));
    return wrong;
}

static const expr_t *affine_sum(const unit_t *u, const directive_t *d, const expr_t *e,
                                affine_t *out)
{
    affine_t right;
    const expr_t *wrong = affine(u, d, e->left, out);
    if (!wrong)
        wrong = affine(u, d, e->right, &right);
    if (!wrong)
        *out = affine_combine(*out, right, e->op[0] == '+' ? form_add : form_subtract);
    return wrong;
}

static const expr_t *affine(const unit_t *u, const directive_t *d, const expr_t *e, affine_t *out)
{
    int axis = axis_of(d, e);
    *out = affine_number(0);
    if (axis >= 0) {
        out->coef[axis] = form_number(1);
        return NULL;
    }
    if (!section_has_axis(d, e)) {
        out->constant = form_of(u->source, e);
        return NULL;
    }
    if (e->kind == EXPR_CAST && type_is_integer(e->type))
        return affine(u, d, e->left, out);
    if (e->kind == EXPR_UNARY && (e->op[0] == '-' || e->op[0] == '+')) {
        const expr_t *wrong = affine(u, d, e->left, out);
        *out = affine_scale(*out, form_number(e->op[0] == '-' ? -1 : 1));
        return wrong;
    }
    if (e->kind == EXPR_BINARY && !strcmp(e->op, "*"))
        return affine_product(u, d, e, out);
    bool sum = e->kind == EXPR_BINARY && (!strcmp(e->op, "+") || !strcmp(e->op, "-"));
    return sum ? affine_sum(u, d, e, out) : e;
}

/* Refuses an expression that is not affine. */
static void check_affine(unit_t *u, directive_t *d, const item_t *item, const expr_t *e,
                         affine_t *out)
{
    const expr_t *wrong = check_scalar(u, d, e) ? affine(u, d, e, out) : NULL;
    if (wrong)
        unit_error(u, wrong->begin, wrong->end,
                   "'%s' is not affine in the axes: an index is a sum of axes, each times a value "
                   "that is the same for the whole launch; "
                   "name a section that contains it, as %s[:] does",
                   unit_words(u, wrong->begin, wrong->end),
                   unit_words(u, item->base->begin, item->base->end));
}

/* ---- Sections whose ends are offsets: [p[e] : p[f] - p[e]] ---- */

/* True for p[e], of which only the index has axes. */
static bool is_offset(const directive_t *d, const expr_t *e)
{
    return e && e->kind == EXPR_OPAQUE && e->left && e->right && !section_has_axis(d, e->left) &&
           section_has_axis(d, e->right);
}

static bool is_same(const unit_t *u, const expr_t *a, const expr_t *b)
{
    return !strcmp(source_words(u->source, a->begin, a->end),
                   source_words(u->source, b->begin, b->end));
}

static bool is_of_same(const unit_t *u, const directive_t *d, const expr_t *a, const expr_t *b)
{
    return is_offset(d, a) && is_offset(d, b) && is_same(u, a->left, b->left);
}

/* Returns q[f] of [p[e] : q[f] - p[e]]; NULL: it is another section. */
static const expr_t *end_of(const unit_t *u, const directive_t *d, const section_t *section)
{
    const expr_t *lower = section->lower, *length = section->length;
    bool found = length && length->kind == EXPR_BINARY && !strcmp(length->op, "-") &&
                 is_of_same(u, d, lower, length->left) && is_of_same(u, d, lower, length->right) &&
                 is_same(u, lower->right, length->right->right);
    return found ? length->left : NULL;
}

CXType section_offsets_array(const expr_t *offsets)
{
    CXType type = clang_getCanonicalType(offsets->type);
    return type.kind == CXType_LValueReference ? clang_getCanonicalType(clang_getPointeeType(type))
                                               : type;
}

bool section_offsets_type(CXType element, kmm_type_t *type)
{
    element = clang_getCanonicalType(element);
    bool wide = clang_Type_getSizeOf(element) == 8;
    switch (element.kind) {
    case CXType_Int:
    case CXType_Long:
    case CXType_LongLong: *type = wide ? KMM_INT64 : KMM_INT32; return true;
    case CXType_UInt:
    case CXType_ULong:
    case CXType_ULongLong: *type = wide ? KMM_UINT64 : KMM_UINT32; return true;
    default: return false;
    }
}

/* Refuses offsets that libkmm cannot read, and sections that have none. */
static void check_offsets(unit_t *u, const directive_t *d, const item_t *item,
                          const section_t *section)
{
    const expr_t *p = section->offsets;
    CXType type = section_offsets_array(p), element = type_pointee(type);
    const bool is_array = type.kind == CXType_Pointer || type_is_array(type);
    kmm_type_t known;
    if (!check_scalar(u, d, section->lower) || !check_scalar(u, d, section->length))
        return;
    if (item->mode == KMM_REDUCE)
        unit_error(u, section->begin, section->end,
                   "a reduction has the same elements in each chunk, but offsets give each chunk "
                   "others; name all of them, as %s[:] does",
                   unit_words(u, item->base->begin, item->base->end));
    else if (is_array ? !type_is_dependent(element) && !section_offsets_type(element, &known)
                      : !type_is_dependent(type))
        unit_error(u, p->begin, p->end,
                   "'%s' is no pointer to integers of 32 or 64 bits, but '%s': offsets are such "
                   "integers, one behind the other; those of a container are its data()",
                   unit_words(u, p->begin, p->end), clang_text(clang_getTypeSpelling(p->type)));
}

static affine_t affine_unknown(const unit_t *u, const expr_t *e)
{
    affine_t a = {.constant = form_of(u->source, e)};
    for (int k = 0; k < KMM_MAX_AXES; k++)
        a.coef[k] = a.constant;
    return a;
}

/* Reads the section as parts that offsets give. False: it is another section. */
static bool read_offsets(unit_t *u, directive_t *d, const item_t *item, section_t *section)
{
    const expr_t *lower = section->lower, *end = end_of(u, d, section);
    affine_t beyond;
    if (!end || affine(u, d, lower->right, &section->first_part) ||
        affine(u, d, end->right, &beyond))
        return false;
    section->offsets = lower->left;
    section->part_count = affine_combine(beyond, section->first_part, form_subtract);
    affine_t begin = affine_unknown(u, lower), length = affine_unknown(u, section->length);
    for (int k = 0; k < KMM_MAX_AXES; k++) {
        bool moves = !form_is(section->first_part.coef[k], 0) || !form_is(beyond.coef[k], 0);
        begin.coef[k] = moves ? begin.coef[k] : form_number(0);
        length.coef[k] = moves ? length.coef[k] : form_number(0);
    }
    section->lower_form = begin;
    section->length_form = length;
    for (int k = 0; k < d->shape_count; k++)
        if (d->shape[k].dims == 1 &&
            !strcmp(unit_words(u, d->shape[k].name.begin, d->shape[k].name.end),
                    unit_words(u, lower->left->begin, lower->left->end))) {
            d->shape[k].used = true;
            section->offsets_shape = &d->shape[k];
        }
    check_offsets(u, d, item, section);
    return true;
}

/* Refuses [p[e] : p[f]], where an offset stands in the place of the length. */
static bool refuse_end(unit_t *u, const directive_t *d, const section_t *section)
{
    const expr_t *lower = section->lower, *length = section->length;
    if (!is_of_same(u, d, lower, length) || is_same(u, lower, length))
        return false;
    const char *end = unit_words(u, length->begin, length->end),
               *right = arena_printf("%s - %s", end, unit_words(u, lower->begin, lower->end));
    unit_error(u, length->begin, length->end,
               "'%s' stands where the section's length does, and a length that data gives is a "
               "difference of two offsets: '%s'",
               end, right);
    diag_fix(length->begin, length->end, right);
    return true;
}

/* ---- Sections ---- */

void check_section(unit_t *u, directive_t *d, const item_t *item, section_t *section)
{
    section->lower_form = section->length_form = affine_number(0);
    section->offsets = NULL;
    section->offsets_shape = NULL;
    if (!section->lower || read_offsets(u, d, item, section) || refuse_end(u, d, section))
        return;
    check_affine(u, d, item, section->lower, &section->lower_form);
    if (section->length)
        check_affine(u, d, item, section->length, &section->length_form);
    else
        section->length_form = affine_number(1);
}

void check_fits(unit_t *u, directive_t *d)
{
    for (int k = 0; k < d->fits_count; k++) {
        fits_t *f = &d->fits[k];
        const expr_t *wrong =
            check_scalar(u, d, f->value) ? affine(u, d, f->value, &f->form) : NULL;
        if (wrong)
            unit_error(u, wrong->begin, wrong->end,
                       "'%s' is not affine in the axes: what must fit is a sum of axes, each times "
                       "a value that is the same for the whole launch",
                       unit_words(u, wrong->begin, wrong->end));
    }
}
