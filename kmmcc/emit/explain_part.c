/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a chunk's part of an array: by which axis chunks differ in each dimension, and how
 * far they reach beyond what is their own. */
#include "emit/explain_part.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "pragma/form.h"

static const form_t ONE = {.known = true, .value = 1};

static form_t length_of(const section_t *section)
{
    return section->length ? section->length_form.constant : ONE;
}

/* How many axes the section's begin depends on; *last is the last of them. */
static int axes_of(const explanation_t *x, const section_t *section, int *last)
{
    int count = 0;
    for (int k = 0; k < x->d->axis_count; k++)
        if (!form_is(section->lower_form.coef[k], 0)) {
            *last = k;
            count++;
        }
    return count;
}

/* ---- One dimension, one section ---- */

/* Sets how far the section reaches beyond the chunk's own elements, which are as many for each
 * index of the axis as the coefficient says. Returns why that is not known; NULL: it is. */
static const char *find_reach(const section_t *section, int axis, explained_part_t *out)
{
    form_t coef = section->lower_form.coef[axis], begin = section->lower_form.constant,
           length = length_of(section);
    if (!coef.known)
        return "the distance between two indices is known only when it runs";
    if (coef.value < 0)
        return "its elements lie in the opposite order";
    if (begin.known)
        out->before = -begin.value;
    if (begin.known && length.known) {
        out->after = begin.value + length.value - coef.value;
        if (coef.value > 1 && out->after < 0)
            out->after = 0; /* there are gaps between the elements */
        return NULL;
    }
    if (length.known)
        return "where it begins is known only when it runs";
    out->after_is_open = true;
    out->before_is_open = !begin.known;
    return begin.known || begin.text[0] == '-' ? NULL
                                               : "where it begins is known only when it runs";
}

static const char *find_part(const explanation_t *x, const section_t *section,
                             explained_part_t *out)
{
    *out = (explained_part_t){.axis = -1};
    if (!section->lower)
        return NULL;
    if (!explain_is_constant(x, &section->length_form))
        return "its length depends on the index";
    int axis = -1, count = axes_of(x, section, &axis);
    if (count > 1)
        return "its index is a sum of several axes";
    out->axis = axis;
    return count ? find_reach(section, axis, out) : NULL;
}

/* ---- Rows in one section: A[row * w + col] ---- */

/* Returns the text without spaces and without parentheses around numbers; NULL: it has others. */
static char *bare_text(const char *text)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (; *text; text++) {
        size_t number = strspn(text + 1, "-0123456789");
        if (*text == '(' && text[1 + number] == ')') {
            text_add(&out, text + 1, number);
            text += number + 1;
        } else if (strchr("()", *text)) {
            return NULL;
        } else if (*text != ' ') {
            text_add(&out, text, 1);
        }
    }
    return out.data;
}

/* A distance in rows and columns. */
typedef struct distance {
    long long rows, columns;
} distance_t;

/* Reads a term, a number with or without the row's length as a factor. Returns what follows; NULL:
 * it is something else. */
static const char *read_term(const char *s, const char *row, distance_t *out)
{
    long long sign = 1, number = 1;
    bool has_number = false;
    for (; *s == '+' || *s == '-'; s++)
        sign *= *s == '-' ? -1 : 1;
    if (isdigit((unsigned char)*s)) {
        char *end;
        number = strtoll(s, &end, 10);
        has_number = true;
        s = end;
        if (*s != '*')
            return out->columns += sign * number, s;
        s++;
    }
    if (strncmp(s, row, strlen(row)) != 0)
        return NULL;
    s += strlen(row);
    if (*s == '*' && !has_number && isdigit((unsigned char)s[1])) {
        char *end;
        number = strtoll(s + 1, &end, 10);
        s = end;
    }
    out->rows += sign * number;
    return s;
}

static bool read_distance(form_t f, const char *row, distance_t *out)
{
    *out = (distance_t){0, 0};
    if (f.known)
        return out->columns = f.value, true;
    const char *s = bare_text(explain_plain(f.text));
    while (s && *s) {
        s = read_term(s, row, out);
        if (s && *s && !strchr("+-", *s))
            return false;
    }
    return s;
}

/* True if the section is of rows as long as one axis, and of columns that another one counts. */
static bool find_rows(const explanation_t *x, const section_t *section, explained_part_t part[])
{
    const directive_t *d = x->d;
    int last = -1, column = -1, row = -1;
    if (!section->lower || axes_of(x, section, &last) != 2)
        return false;
    for (int k = 0; k < d->axis_count; k++) {
        form_t coef = section->lower_form.coef[k];
        column = form_is(coef, 1) ? k : column;
        row = coef.known ? row : k;
    }
    if (column < 0 || row < 0 || !d->axis[column].length || !length_of(section).known)
        return false;
    const char *width = explain_plain(form_text(form_of(x->u->source, d->axis[column].length)));
    if (strcmp(width, explain_plain(section->lower_form.coef[row].text)) != 0)
        return false;
    distance_t at;
    if (!read_distance(section->lower_form.constant, width, &at))
        return false;
    part[0] = (explained_part_t){.axis = row, .before = -at.rows, .after = at.rows};
    part[1] = (explained_part_t){
        .axis = column, .before = -at.columns, .after = at.columns + length_of(section).value - 1};
    return true;
}

void explain_parts(const explanation_t *x, const item_t *item, explained_item_t *out)
{
    out->undrawn = NULL;
    out->part_count = item->section_count ? item->section_count : 1;
    if (!item->section_count) {
        out->part[0] = (explained_part_t){.axis = -1};
    } else if (item->section_count == 1 && find_rows(x, &item->section[0], out->part)) {
        out->part_count = 2;
    } else if (item->section_count > MAX_PARTS) {
        out->undrawn = "it has more than two dimensions";
    } else {
        for (int k = 0; k < item->section_count && !out->undrawn; k++)
            out->undrawn = find_part(x, &item->section[k], &out->part[k]);
    }
    if (out->undrawn)
        out->part_count = 0;
}
