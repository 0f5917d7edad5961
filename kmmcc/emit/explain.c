/* SPDX-License-Identifier: Apache-2.0 */
/* Explains in words and formulas what a launch becomes: axes, chunks, the elements and bytes of
 * each argument, and the copies. */
#include "emit/explain.h"

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/options.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "emit/suggestion.h"
#include "ir/load.h"
#include "kmm/launch.h"
#include "pragma/directive.h"
#include "pragma/expression.h"
#include "pragma/form.h"

typedef struct explanation {
    const unit_t *u;
    const directive_t *d;
    text_t out;
} explanation_t;

static const char *words_of(const explanation_t *x, size_t begin, size_t end)
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
static const char *plain(const char *text)
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

/* ---- Axes and chunks ---- */

static const expr_t *chunk_of(const directive_t *d, int axis)
{
    int entry = 0;
    for (int k = 0; k < axis; k++)
        entry += d->axis[k].splits;
    return d->axis[axis].splits && entry < d->chunk_count ? d->chunk[entry] : NULL;
}

static const char *range_of(const explanation_t *x, const axis_t *axis)
{
    if (!axis->length)
        return "the whole grid";
    form_t lower = form_of(x->u->source, axis->lower), length = form_of(x->u->source, axis->length);
    return arena_printf("%s <= %s < %s", plain(form_text(lower)), axis->name,
                        plain(form_text(form_add(lower, length))));
}

static void explain_axes(explanation_t *x)
{
    static const char *const sources[] = {"global.x",
                                          "global.y",
                                          "global.z",
                                          "block.x",
                                          "block.y",
                                          "block.z",
                                          "the range's first dimension",
                                          "the range's second dimension",
                                          "the range's third dimension"};
    for (int k = 0; k < x->d->axis_count; k++) {
        const axis_t *axis = &x->d->axis[k];
        text_printf(&x->out, "  axis     %s is %s, %s%s\n", axis->name, sources[axis->source],
                    range_of(x, axis), axis->splits ? "" : "; a second name of a split");
    }
}

static void explain_chunks(explanation_t *x)
{
    const directive_t *d = x->d;
    const char *unit = d->is_kernel ? ", rounded up to whole thread blocks" : "";
    int given = 0;
    for (int k = 0; k < d->axis_count; k++) {
        const expr_t *chunk = chunk_of(d, k);
        if (!chunk)
            continue;
        bool blocks = d->axis[k].source >= KMM_BLOCK_X && d->axis[k].source <= KMM_BLOCK_Z;
        text_printf(&x->out, "  chunk    %s %s of %s%s: %s <= %s < %s\n",
                    words_of(x, chunk->begin, chunk->end), blocks ? "blocks" : "elements",
                    d->axis[k].name, blocks ? "" : unit, lowest(&d->axis[k]), d->axis[k].name,
                    beyond(&d->axis[k]));
        given++;
    }
    if (d->home)
        text_printf(&x->out, "  chunk    one: %s\n", d->home);
    else if (d->axis_count == 0)
        text_printf(&x->out, "  chunk    no axis is named, so the launch is one chunk\n");
    else if (!given)
        text_printf(&x->out, "  chunk    chosen when it runs: an eighth of a device's memory at "
                             "most, and some for each device\n");
    if (d->condition)
        text_printf(&x->out, "           one chunk unless %s\n",
                    words_of(x, d->condition->begin, d->condition->end));
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
    char *text = arena_copy(plain(f.text), strlen(plain(f.text)));
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

static bool is_constant(const explanation_t *x, const affine_t *a)
{
    for (int k = 0; k < x->d->axis_count; k++)
        if (!form_is(a->coef[k], 0))
            return false;
    return true;
}

static const char *part_of(const explanation_t *x, const section_t *section)
{
    if (!section->lower)
        return "all";
    sum_t least = extreme(x, &section->lower_form, false),
          last = extreme(x, &section->lower_form, true);
    if (least.fails || !is_constant(x, &section->length_form))
        return NULL;
    sum_form(&last, section->length_form.constant);
    last.number--;
    const char *from = sum_result(&least), *to = sum_result(&last);
    return strcmp(from, to) ? arena_printf("%s .. %s", from, to) : from;
}

/* Returns the set of elements: { A[lower + j] : axes in the chunk, 0 <= j < length }. */
static const char *set_of(const explanation_t *x, const item_t *item)
{
    text_t out = {0}, ranges = {0};
    text_printf(&out, "{ %s", words_of(x, item->base->begin, item->base->end));
    text_add(&ranges, "", 0);
    for (int k = 0; k < x->d->axis_count; k++)
        text_printf(&ranges, "%s%s <= %s < %s", ranges.length ? ", " : "", lowest(&x->d->axis[k]),
                    x->d->axis[k].name, beyond(&x->d->axis[k]));
    for (int k = 0; k < item->section_count; k++) {
        const section_t *section = &item->section[k];
        const char *lower =
            section->lower ? words_of(x, section->lower->begin, section->lower->end) : "";
        if (!section->lower)
            text_printf(&out, "[all]");
        else if (!section->length)
            text_printf(&out, "[%s]", lower);
        else
            text_printf(&out, "[%s + %c]", lower, "jklm"[k]);
        if (section->lower && section->length)
            text_printf(&ranges, "%s0 <= %c < %s", ranges.length ? ", " : "", "jklm"[k],
                        words_of(x, section->length->begin, section->length->end));
    }
    text_printf(&out, " : %s }", ranges.data);
    return out.data;
}

static const char *region_of(const explanation_t *x, const item_t *item)
{
    text_t out = {0};
    if (!item->section_count)
        return "the whole array";
    text_printf(&out, "%s", words_of(x, item->base->begin, item->base->end));
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
    if (!section->lower || !is_constant(x, &section->length_form))
        return false;
    for (int k = 0; k < x->d->axis_count; k++) {
        const axis_t *axis = &x->d->axis[k];
        form_t coef = section->lower_form.coef[k];
        const expr_t *size = chunk_of(x->d, k);
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
        const char *length = size ? plain(form_text(form_of(x->u->source, size)))
                                  : arena_printf("%s - %s", beyond(axis), lowest(axis));
        sum_scaled(out, factor,
                   factor > 1 && strpbrk(length, "+-/% ") ? arena_printf("(%s)", length) : length);
    }
    sum_form(out, section->length_form.constant);
    return true;
}

static const char *bytes_of(const explanation_t *x, const item_t *item)
{
    long long size = clang_Type_getSizeOf(element_of(item));
    text_t out = {0};
    if (!item->section_count)
        return "those of the array";
    for (int k = 0; k < item->section_count; k++) {
        sum_t count;
        if (!count_of(x, item, k, &count))
            return "known when it runs";
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

/* ---- Items ---- */

static void explain_item(explanation_t *x, const item_t *item)
{
    static const char *const modes[] = {"", "reads", "writes", "updates", "reduces"};
    static const char *const before[] = {"", "in: what is not yet on the chunk's device",
                                         "in: nothing, since all of it is written",
                                         "in: what is not yet on the chunk's device",
                                         "in: nothing; a private copy begins at the identity"};
    text_printf(&x->out, "  %-8s %s\n", modes[item->mode], words_of(x, item->begin, item->end));
    text_printf(&x->out, "           elements  %s\n", region_of(x, item));
    text_printf(&x->out, "           bytes     %s\n", bytes_of(x, item));
    text_printf(&x->out, "           copies    %s%s\n", before[item->mode],
                item->mode == KMM_READ ? ""
                : item->mode == KMM_REDUCE
                    ? "; the copies are folded, and added to the array"
                    : "; out: when the host or another device reads it, or its place is needed");
}

static void explain_directive(const unit_t *u, const directive_t *d)
{
    explanation_t x = {.u = u, .d = d};
    text_printf(&x.out, "%s:%u: %s\n", u->source->path, source_line(u->source, d->pragma.begin),
                d->kind == DIRECTIVE_TASK ? "a task, which runs once on one device"
                : d->is_kernel ? arena_printf("launch of kernel '%s'", d->callee_name)
                               : arena_printf("call of function '%s', on the CPU", d->callee_name));
    if (d->kind == DIRECTIVE_PARALLEL) {
        explain_axes(&x);
        explain_chunks(&x);
    }
    for (int k = 0; k < d->item_count; k++)
        explain_item(&x, &d->item[k]);
    for (int k = 0; k < d->fits_count; k++)
        text_printf(&x.out, "  holds    where %s is %s%s; else the launch is whole\n",
                    words_of(&x, d->fits[k].begin, d->fits[k].end),
                    fits_types[d->fits[k].type].name, d->fits[k].in_grid ? " for all threads" : "");
    if (d->is_kernel)
        suggestion_add_known(u, d, &x.out);
    text_printf(&x.out, "  results  %s\n\n",
                d->nowait ? "of host memory that only this launch maps come back at 'wait'"
                          : "stay where they are; those in host memory that no 'data' maps come "
                            "back before the launch returns");
    fputs(x.out.data, stdout);
}

/* Says once why no launch of the file was compared with its kernel. */
static void explain_comparison(const unit_t *u)
{
    static bool said;
    const char *reason = "";
    if (said || u->main->options->no_compare || ir_functions(u->main, &reason))
        return;
    said = true;
    printf("launches are not compared with what their kernels access: %s\n\n", reason);
}

void explain_directives(const unit_t *u)
{
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *d = u->directives[k];
        bool launch = d->kind == DIRECTIVE_PARALLEL && !clang_Cursor_isNull(d->launch);
        if (d->bound && !d->broken && (launch || d->kind == DIRECTIVE_TASK))
            explain_directive(u, d);
        if (d->bound && !d->broken && launch && d->is_kernel)
            explain_comparison(u);
    }
}
