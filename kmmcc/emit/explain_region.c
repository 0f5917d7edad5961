/* SPDX-License-Identifier: Apache-2.0 */
/* The elements and bytes of an item in a chunk, as formulas. */
#include "emit/explain_region.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "kmm/launch.h"
#include "pragma/expression.h"
#include "pragma/form.h"

const char *explain_words(const explanation_t *x, size_t begin, size_t end)
{
    return source_words(x->u->source, begin, end);
}

static const char *lowest(const axis_t *axis)
{
    return arena_printf("%s0", axis->name);
}
static const char *beyond(const axis_t *axis)
{
    return arena_printf("%s1", axis->name);
}

/* Returns the text without casts to long long, which do not matter to a reader. */
const char *explain_plain(const char *text)
{
    const char *cast = "(long long)";
    text_t out = {0};
    text_add(&out, "", 0);
    while (*text) {
        if (!strncmp(text, cast, strlen(cast)))
            text += strlen(cast);
        else
            text_add(&out, text++, 1);
    }
    return out.data;
}

const expr_t *explain_chunk(const directive_t *d, int axis)
{
    int entry = 0;
    for (int k = 0; k < axis; k++)
        entry += d->axis[k].splits;
    return d->axis[axis].splits && entry < d->chunk_count ? d->chunk[entry] : NULL;
}

/* ---- Regions ---- */

/* A sum of texts and one number. */
typedef struct sum {
    text_t terms;
    long long number;
    bool fails;
} sum_t;

static void sum_text(sum_t *s, const char *text)
{
    bool negative = text[0] == '-' && !strpbrk(text + 1, "+-?");
    text_printf(&s->terms, "%s%s", s->terms.length ? negative ? " - " : " + " : "",
                text + (negative && s->terms.length > 0));
}

/* Removes the number at the end of a sum such as `a + b - 1` and returns it. The last operator
 * must be the sum's own. */
static long long take_number(char *text)
{
    size_t length = strlen(text), digits = length;
    while (digits > 3 && strchr("0123456789", text[digits - 1]))
        digits--;
    if (digits == length || text[digits - 1] != ' ' || text[digits - 3] != ' ' ||
        !strchr("+-", text[digits - 2]))
        return 0;
    long long value = strtoll(text + digits, NULL, 10);
    bool negative = text[digits - 2] == '-';
    text[digits - 3] = '\0';
    return negative ? -value : value;
}

static void sum_form(sum_t *s, form_t f)
{
    enum { SUM = 9 }; /* the precedence of + and - */
    if (f.known) {
        s->number += f.value;
        return;
    }
    char *text = arena_copy(explain_plain(f.text), strlen(explain_plain(f.text)));
    if (f.precedence == SUM)
        s->number += take_number(text);
    sum_text(s, f.precedence < SUM ? arena_printf("(%s)", text) : text);
}

/* Adds factor * text. */
static void sum_scaled(sum_t *s, long long factor, const char *text)
{
    if (factor == 1 || factor == -1)
        sum_text(s, arena_printf("%s%s", factor < 0 ? "-" : "", text));
    else if (factor)
        sum_text(s, arena_printf("%lld * %s", factor, text));
}

static const char *sum_result(const sum_t *s)
{
    if (!s->terms.length)
        return arena_printf("%lld", s->number);
    if (!s->number)
        return s->terms.data;
    return arena_printf("%s %c %lld", s->terms.data, s->number < 0 ? '-' : '+',
                        s->number < 0 ? -s->number : s->number);
}

/* Returns the least (or greatest) value of an affine form over a chunk. Fails if a coefficient
 * is not known. */
static sum_t extreme(const explanation_t *x, const affine_t *a, bool greatest)
{
    sum_t s = {.number = 0};
    for (int k = 0; k < x->d->axis_count; k++) {
        long long coef = a->coef[k].value;
        bool upper = (coef > 0) == greatest;
        s.fails |= !a->coef[k].known;
        sum_scaled(&s, coef, upper ? beyond(&x->d->axis[k]) : lowest(&x->d->axis[k]));
        s.number -= upper && a->coef[k].known ? coef : 0;
    }
    sum_form(&s, a->constant);
    return s;
}

bool explain_is_constant(const explanation_t *x, const affine_t *a)
{
    for (int k = 0; k < x->d->axis_count; k++)
        if (!form_is(a->coef[k], 0))
            return false;
    return true;
}

bool explain_bounds(const explanation_t *x, const section_t *section, const char **first,
                    const char **last)
{
    *first = *last = NULL;
    if (!section->lower)
        return false;
    sum_t least = extreme(x, &section->lower_form, false),
          greatest = extreme(x, &section->lower_form, true);
    if (least.fails || !explain_is_constant(x, &section->length_form))
        return false;
    sum_form(&greatest, section->length_form.constant);
    greatest.number--;
    *first = sum_result(&least);
    *last = sum_result(&greatest);
    return true;
}

static const char *part_of(const explanation_t *x, const section_t *section)
{
    const char *from, *to;
    if (!section->lower)
        return "all";
    if (!explain_bounds(x, section, &from, &to))
        return NULL;
    return strcmp(from, to) ? arena_printf("%s .. %s", from, to) : from;
}

/* Returns the set of elements: { A[lower + j] : axes in the chunk, 0 <= j < length }. */
static const char *set_of(const explanation_t *x, const item_t *item)
{
    text_t out = {0}, ranges = {0};
    text_printf(&out, "{ %s", explain_words(x, item->base->begin, item->base->end));
    text_add(&ranges, "", 0);
    for (int k = 0; k < x->d->axis_count; k++)
        text_printf(&ranges, "%s%s <= %s < %s", ranges.length ? ", " : "", lowest(&x->d->axis[k]),
                    x->d->axis[k].name, beyond(&x->d->axis[k]));
    for (int k = 0; k < item->section_count; k++) {
        const section_t *section = &item->section[k];
        const char *lower =
            section->lower ? explain_words(x, section->lower->begin, section->lower->end) : "";
        if (!section->lower)
            text_printf(&out, "[all]");
        else if (!section->length)
            text_printf(&out, "[%s]", lower);
        else
            text_printf(&out, "[%s + %c]", lower, "jklm"[k]);
        if (section->lower && section->length)
            text_printf(&ranges, "%s0 <= %c < %s", ranges.length ? ", " : "", "jklm"[k],
                        explain_words(x, section->length->begin, section->length->end));
    }
    text_printf(&out, " : %s }", ranges.data);
    return out.data;
}

const char *explain_elements(const explanation_t *x, const item_t *item)
{
    text_t out = {0};
    if (!item->section_count)
        return "the whole array";
    text_printf(&out, "%s", explain_words(x, item->base->begin, item->base->end));
    for (int k = 0; k < item->section_count; k++) {
        const char *part = part_of(x, &item->section[k]);
        if (!part)
            return set_of(x, item);
        text_printf(&out, "[%s]", part);
    }
    return out.data;
}

/* ---- Bytes ---- */

static CXType element_of(const item_t *item)
{
    CXType type = clang_getCanonicalType(item->base->type);
    CXType element = clang_getArrayElementType(type);
    if (element.kind == CXType_Invalid)
        element = clang_getPointeeType(type);
    for (int k = 0; k < item->inner_dims; k++)
        element = clang_getArrayElementType(clang_getCanonicalType(element));
    return element;
}

/* Computes how many indices a section has in a full chunk; false if the text does not tell. */
static bool count_of(const explanation_t *x, const item_t *item, int number, sum_t *out)
{
    const section_t *section = &item->section[number];
    *out = (sum_t){.number = 0};
    if (!section->lower && item->shape)
        return sum_form(out, form_of(x->u->source, item->shape->extent[number])), true;
    if (!section->lower || !explain_is_constant(x, &section->length_form))
        return false;
    for (int k = 0; k < x->d->axis_count; k++) {
        const axis_t *axis = &x->d->axis[k];
        form_t coef = section->lower_form.coef[k];
        const expr_t *size = explain_chunk(x->d, k);
        bool blocks = axis->source >= KMM_BLOCK_X && axis->source <= KMM_BLOCK_Z;
        if (form_is(coef, 0))
            continue;
        if (!coef.known || (blocks && !size))
            return false;
        long long factor = coef.value < 0 ? -coef.value : coef.value;
        out->number -= factor;
        if (size && form_of(x->u->source, size).known) {
            out->number += factor * form_of(x->u->source, size).value;
            continue;
        }
        const char *length = size ? explain_plain(form_text(form_of(x->u->source, size)))
                                  : arena_printf("%s - %s", beyond(axis), lowest(axis));
        sum_scaled(out, factor,
                   factor > 1 && strpbrk(length, "+-/% ") ? arena_printf("(%s)", length) : length);
    }
    sum_form(out, section->length_form.constant);
    return true;
}

const char *explain_bytes(const explanation_t *x, const item_t *item)
{
    long long size = clang_Type_getSizeOf(element_of(item));
    text_t out = {0};
    if (!item->section_count)
        return "those of the array";
    for (int k = 0; k < item->section_count; k++) {
        sum_t count;
        if (!count_of(x, item, k, &count))
            return NULL;
        const char *text = sum_result(&count);
        bool closed = !strpbrk(text, "+-/%? ");
        if (strcmp(text, "1"))
            text_printf(&out, closed ? "%s%s" : "%s(%s)", out.length ? " * " : "", text);
    }
    if (size <= 0)
        return arena_printf("%s times the size of an element", out.length ? out.data : "1");
    return out.length ? size > 1 ? arena_printf("%s * %lld", out.data, size) : out.data
                      : arena_printf("%lld", size);
}

long long explain_element_bytes(const item_t *item)
{
    long long size = clang_Type_getSizeOf(element_of(item));
    return size > 0 ? size : 0;
}
