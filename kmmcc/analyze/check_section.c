/* SPDX-License-Identifier: Apache-2.0 */
/* Reads sections as affine functions of the axes, and checks them. */
#include "analyze/check_section.h"

#include <string.h>

#include "analyze/check_scalar.h"
#include "clang/cursor.h"
#include "kmm/launch.h"
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

void check_section(unit_t *u, directive_t *d, const item_t *item, section_t *section)
{
    section->lower_form = section->length_form = affine_number(0);
    if (!section->lower)
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
