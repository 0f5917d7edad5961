/* SPDX-License-Identifier: Apache-2.0 */
/* Joins what is inferred of the instances of a launch in a template. */
#include "analyze/combine.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/member.h"
#include "base/arena.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/instance.h"

enum { MOST_VALUES = 32, MOST_READS = 8 };

/* An integer parameter of the templates around the launch. */
typedef struct value {
    const char *name;
    long long *of; /* its value in each instance */
} value_t;

typedef struct combination {
    const unit_t *u;
    directive_t *d;
    completed_t **list;
    int count; /* of instances */
    value_t value[MOST_VALUES];
    int value_count;
    int instance; /* whose values are being noted */
} combination_t;

/* ---- Values of the template's parameters ---- */

static void note_value(void *context, const char *name, long long value)
{
    combination_t *c = context;
    int k = 0;
    while (k < c->value_count && strcmp(c->value[k].name, name) != 0)
        k++;
    if (k == MOST_VALUES || (k == c->value_count && c->instance > 0))
        return;
    if (k == c->value_count) {
        c->value[c->value_count++].name = name;
        c->value[k].of = arena_alloc((size_t)c->count * sizeof(*c->value[k].of));
    }
    c->value[k].of[c->instance] = value;
}

/* An axis of the same name hides the parameter. */
static bool is_hidden(const combination_t *c, const char *name)
{
    for (int k = 0; k < c->d->axis_count; k++)
        if (!strcmp(c->d->axis[k].name, name))
            return true;
    for (int k = 0; k < c->list[0]->axis_count; k++) {
        const char *axis = c->list[0]->axis[k].name;
        size_t length = strcspn(axis, ":");
        if (length == strlen(name) && !strncmp(axis, name, length))
            return true;
    }
    return false;
}

/* Returns `a * name + b`, which has the wanted values in all instances; NULL: there is none. */
static const char *line_of(const combination_t *c, const value_t *v, const long long *wanted)
{
    int other = 1;
    while (other < c->count && v->of[other] == v->of[0])
        other++;
    if (other == c->count || (wanted[other] - wanted[0]) % (v->of[other] - v->of[0]))
        return NULL;
    long long a = (wanted[other] - wanted[0]) / (v->of[other] - v->of[0]),
              b = wanted[0] - a * v->of[0];
    for (int k = 0; k < c->count; k++)
        if (a * v->of[k] + b != wanted[k])
            return NULL;
    const char *product = a == 1 ? v->name : arena_printf("%lld * %s", a, v->name);
    return a == 1 && b == 0 ? product
           : b == 0         ? arena_printf("(%s)", product)
                            : arena_printf("(%s %c %lld)", product, b < 0 ? '-' : '+', llabs(b));
}

static const char *number_text(const combination_t *c, const long long *wanted)
{
    const char *found = NULL;
    for (int k = 0; k < c->value_count; k++) {
        const char *text = is_hidden(c, c->value[k].name) ? NULL : line_of(c, &c->value[k], wanted);
        if (text && !strcmp(text, c->value[k].name))
            return text;
        found = found ? found : text;
    }
    return found;
}

/* ---- Texts ---- */

static bool is_integer(const char *text, long long *value)
{
    char *end;
    *value = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end;
}

/* Adds the next token of all texts; false: they differ, and are no numbers of a line. */
static bool add_token(const combination_t *c, lexer_t *l, const token_t *t, text_t *out)
{
    long long *wanted = arena_alloc((size_t)c->count * sizeof(*wanted));
    const char *first = token_text(l[0].s, t[0]);
    bool same = true, numbers = true;
    for (int k = 0; k < c->count; k++) {
        const char *text = token_text(l[k].s, t[k]);
        same &= !strcmp(text, first);
        numbers &= is_integer(text, &wanted[k]);
    }
    const char *text = same ? first : numbers ? number_text(c, wanted) : NULL;
    if (text)
        text_printf(out, "%s", text);
    return text;
}

/* Returns the one text that is right in all instances; NULL: there is none. */
static const char *unified(const combination_t *c, const char *const *texts)
{
    lexer_t *l = arena_alloc((size_t)c->count * sizeof(*l));
    token_t *t = arena_alloc((size_t)c->count * sizeof(*t));
    text_t out = {0};
    text_add(&out, "", 0);
    for (int k = 0; k < c->count; k++) {
        const source_t *s = source_from("", texts[k], strlen(texts[k]));
        l[k] = lexer_within(s, 0, s->length);
    }
    for (size_t last = 0;; last = t[0].end) {
        int ended = 0;
        for (int k = 0; k < c->count; k++)
            ended += (t[k] = lex(&l[k])).kind == TOKEN_END;
        if (ended)
            return ended == c->count ? out.data : NULL;
        if (t[0].begin > last && out.length)
            text_add(&out, " ", 1);
        if (!add_token(c, l, t, &out))
            return NULL;
    }
}

/* ---- Axes, shapes and conditions ---- */

/* Stores the one text of a range to *out; some instances may have none. False: they differ. */
static bool unify_range(const combination_t *c, const char *const *texts, const char **out)
{
    int none = 0;
    for (int k = 0; k < c->count; k++)
        none += !texts[k];
    *out = none ? NULL : unified(c, texts);
    return none ? none == c->count : *out != NULL;
}

static bool unify_axes(const combination_t *c, completed_t *out)
{
    const char **texts = arena_alloc((size_t)c->count * sizeof(*texts));
    for (int a = 0; a < c->d->axis_count; a++) {
        for (int k = 0; k < c->count; k++)
            texts[k] = c->list[k]->range[a];
        if (!unify_range(c, texts, &out->range[a]))
            return false;
    }
    out->axis_count = c->list[0]->axis_count;
    out->bounded = c->list[0]->bounded;
    for (int k = 0; k < c->count; k++)
        if (c->list[k]->axis_count != out->axis_count || c->list[k]->bounded != out->bounded)
            return false;
    for (int a = 0; a < out->axis_count; a++) {
        out->axis[a].name = c->list[0]->axis[a].name;
        for (int k = 0; k < c->count; k++) {
            if (strcmp(c->list[k]->axis[a].name, out->axis[a].name) != 0)
                return false;
            texts[k] = c->list[k]->axis[a].range;
        }
        if (!unify_range(c, texts, &out->axis[a].range))
            return false;
    }
    return true;
}

static bool unify_shapes(const combination_t *c, completed_t *out)
{
    const char **texts = arena_alloc((size_t)c->count * sizeof(*texts));
    out->shape_count = c->list[0]->shape_count;
    for (int k = 0; k < c->count; k++)
        if (c->list[k]->shape_count != out->shape_count)
            return false;
    for (int s = 0; s < out->shape_count; s++) {
        for (int k = 0; k < c->count; k++)
            texts[k] = c->list[k]->shape[s];
        if (!(out->shape[s] = unified(c, texts)))
            return false;
    }
    return true;
}

static bool has_fits(const completed_t *x, const completed_fits_t *f)
{
    for (int k = 0; k < x->fits_count; k++)
        if (x->fits[k].type == f->type && x->fits[k].in_grid == f->in_grid &&
            !strcmp(x->fits[k].text, f->text))
            return true;
    return false;
}

/* The same conditions in all instances, but for numbers. */
static bool unify_fits(const combination_t *c, completed_t *out)
{
    const char **texts = arena_alloc((size_t)c->count * sizeof(*texts));
    out->fits_count = 0;
    for (int i = 0; i < c->list[0]->fits_count; i++) {
        completed_fits_t f = c->list[0]->fits[i];
        for (int k = 0; k < c->count; k++) {
            const completed_fits_t *other = &c->list[k]->fits[i];
            if (c->list[k]->fits_count != c->list[0]->fits_count || other->type != f.type ||
                other->in_grid != f.in_grid)
                return false;
            texts[k] = other->text;
        }
        f.text = unified(c, texts);
        if (!f.text)
            return false;
        out->fits[out->fits_count++] = f;
    }
    for (int k = 0; k < c->count; k++)
        if (c->list[k]->fits_count != c->list[0]->fits_count)
            return false;
    return true;
}

/* The conditions of all instances, those of one kind together. */
static bool join_fits(const combination_t *c, completed_t *out)
{
    if (unify_fits(c, out))
        return true;
    out->fits_count = 0;
    for (int kind = 0; kind < 2 * FITS_TYPES; kind++)
        for (int k = 0; k < c->count; k++)
            for (int i = 0; i < c->list[k]->fits_count; i++) {
                const completed_fits_t *f = &c->list[k]->fits[i];
                if (f->type != kind / 2 || f->in_grid != kind % 2 || has_fits(out, f))
                    continue;
                if (out->fits_count == MAX_FITS || member_unnamed(c->u, c->d, f->text))
                    return false;
                out->fits[out->fits_count++] = *f;
            }
    return true;
}

/* ---- Items ---- */

/* The items of one parameter, in one instance. */
typedef struct group {
    const completed_item_t *at[MAX_ITEMS];
    int count;
} group_t;

static group_t group_of(const completed_t *x, int parameter)
{
    group_t g = {.count = 0};
    for (int k = 0; k < x->item_count; k++)
        if (x->item[k].parameter == parameter)
            g.at[g.count++] = &x->item[k];
    return g;
}

static bool is_read(const completed_item_t *i)
{
    return !strcmp(i->word, "read(");
}

static bool is_reduced(const completed_item_t *i)
{
    return !strncmp(i->word, "reduce", 6);
}

/* The word for both accesses; NULL: there is none. */
static const char *joined(const char *a, const char *b)
{
    bool reduces = !strncmp(a, "reduce", 6) || !strncmp(b, "reduce", 6);
    return !strcmp(a, b) ? a : reduces ? NULL : "update(";
}

/* The same items in all instances, but for numbers. */
static bool unify_items(const combination_t *c, const group_t *g, int parameter, completed_t *out)
{
    const char **texts = arena_alloc((size_t)c->count * sizeof(*texts));
    int before = out->item_count;
    for (int k = 0; k < c->count; k++)
        if (g[k].count != g[0].count || out->item_count + g[k].count > MAX_ITEMS)
            return false;
    for (int i = 0; i < g[0].count; i++) {
        const char *word = g[0].at[i]->word;
        for (int k = 0; k < c->count; k++) {
            texts[k] = g[k].at[i]->text;
            word = word ? joined(word, g[k].at[i]->word) : NULL;
        }
        const char *text = word ? unified(c, texts) : NULL;
        if (!text) {
            out->item_count = before;
            return false;
        }
        out->item[out->item_count++] = (completed_item_t){parameter, word, text};
    }
    return true;
}

static const completed_item_t *find_item(const group_t *g, const char *text)
{
    for (int k = 0; k < g->count; k++)
        if (!strcmp(g->at[k]->text, text))
            return g->at[k];
    return NULL;
}

/* The access of all instances to what the item names; NULL: one stores elsewhere. */
static const char *word_in_all(const combination_t *c, const group_t *g,
                               const completed_item_t *item)
{
    const char *word = item->word;
    bool everywhere = true;
    for (int k = 0; k < c->count && word; k++) {
        const completed_item_t *same = find_item(&g[k], item->text);
        everywhere &= same || !g[k].count || is_read(item);
        word = same ? joined(word, same->word) : word;
    }
    if (!word || !strcmp(word, "read("))
        return word;
    return !everywhere || is_reduced(item) ? NULL : "update(";
}

/* The items of all instances, none of which writes without reading. */
static bool join_items(const combination_t *c, const group_t *g, int parameter, completed_t *out)
{
    int before = out->item_count, different = 0;
    for (int k = 0; k < c->count; k++)
        for (int i = 0; i < g[k].count; i++) {
            bool again = false;
            for (int o = before; o < out->item_count; o++)
                again |= !strcmp(out->item[o].text, g[k].at[i]->text);
            if (again)
                continue;
            const char *word = word_in_all(c, g, g[k].at[i]);
            if (!word || out->item_count == MAX_ITEMS || ++different > MOST_READS) {
                out->item_count = before;
                return false;
            }
            out->item[out->item_count++] = (completed_item_t){parameter, word, g[k].at[i]->text};
        }
    return true;
}

static void add_group(const group_t *g, text_t *out)
{
    for (int k = 0; k < g->count && k < 3; k++)
        text_printf(out, "%s%s%s)", k ? " " : "", g->at[k]->word, g->at[k]->text);
    text_printf(out, "%s", g->count > 3 ? " ..." : g->count ? "" : "nothing");
}

/* Names two instances that differ, with what each accesses through the parameter. */
static const char *difference(const combination_t *c, const group_t *g)
{
    int other = 1;
    text_t a = {0}, b = {0};
    add_group(&g[0], &a);
    for (; other < c->count; other++) {
        b = (text_t){0};
        add_group(&g[other], &b);
        if (strcmp(a.data, b.data) != 0)
            break;
    }
    return other == c->count ? "the instances of the template differ"
                             : arena_printf("%s has %s, and %s has %s", c->d->instance[0].title,
                                            a.data, c->d->instance[other].title, b.data);
}

/* The elements of a reduction have a type that does not depend on the template. */
static bool is_open_reduction(const combination_t *c, const group_t *g, int parameter)
{
    bool reduces = false;
    for (int k = 0; k < g->count; k++)
        reduces |= is_reduced(g->at[k]);
    return reduces && parameter >= 0 && parameter < c->d->argument_count &&
           type_is_dependent(type_pointee(clang_getCursorType(c->d->argument[parameter])));
}

static void add_items(const combination_t *c, int parameter, completed_t *out)
{
    group_t *g = arena_alloc((size_t)c->count * sizeof(*g));
    for (int k = 0; k < c->count; k++)
        g[k] = group_of(c->list[k], parameter);
    if (is_open_reduction(c, &g[0], parameter)) {
        c->d->uninferred[parameter] = "a reduction of elements whose type depends on a template";
        return;
    }
    if (unify_items(c, g, parameter, out) || join_items(c, g, parameter, out))
        return;
    c->d->instances_differ = difference(c, g);
    if (parameter >= 0)
        c->d->uninferred[parameter] = c->d->instances_differ;
}

/* Names two instances whose axes differ. */
static const char *different_axes(const combination_t *c)
{
    const char *first = complete_axes_text(c->d, c->list[0]);
    for (int k = 1; k < c->count; k++) {
        const char *other = complete_axes_text(c->d, c->list[k]);
        if (strcmp(first, other) != 0)
            return arena_printf("%s works on the axes (%s), and %s on (%s)",
                                c->d->instance[0].title, first, c->d->instance[k].title, other);
    }
    return "the instances of the template differ in rows, or in their conditions";
}

completed_t *combine_instances(const unit_t *u, directive_t *d, completed_t **list)
{
    combination_t *c = arena_alloc(sizeof(*c));
    completed_t *out = arena_alloc(sizeof(*out));
    *c = (combination_t){.u = u, .d = d, .list = list, .count = d->instance_count};
    *out = (completed_t){.axis_count = 0};
    for (; c->instance < c->count; c->instance++)
        instance_values(&d->instance[c->instance], note_value, c);
    if (!unify_axes(c, out) || !unify_shapes(c, out) || !join_fits(c, out)) {
        d->instances_differ = different_axes(c);
        return NULL;
    }
    for (int parameter = -1; parameter < MAX_PARAMETERS; parameter++)
        for (int k = 0; k < c->count; k++)
            if (group_of(list[k], parameter).count) {
                add_items(c, parameter, out);
                break;
            }
    return out;
}
