/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the pragma of a launch by what is declared or inferred of its kernel. */
#include "analyze/complete.h"

#include <string.h>

#include "analyze/translate.h"
#include "base/arena.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "kmm/launch.h"
#include "pragma/expression.h"

/* ---- Insertions ---- */

static void complete_insert(unit_t *u, size_t at, const char *text)
{
    insertion_t *i = arena_alloc(sizeof(*i)), **link = &u->insertions;
    while (*link && (*link)->at <= at)
        link = &(*link)->next;
    *i = (insertion_t){*link, at, text};
    *link = i;
}

/* Quotes and backslashes as a string literal has them. */
static const char *escaped(const directive_t *d, const char *text)
{
    text_t out = {0};
    if (!d->pragma.is_operator)
        return text;
    text_add(&out, "", 0);
    for (; *text; text++)
        text_printf(&out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    return out.data;
}

/* ---- Axes ---- */

static kmm_source_t source_of(const directive_t *d, int number)
{
    return d->axis[number].source_given ? d->axis[number].source
                                        : (kmm_source_t)(KMM_GLOBAL_X + number);
}

/* A name for the axis that no argument of the launch has. */
static const char *free_name(const completion_t *c, const char *name)
{
    for (int k = 0; k < c->n->count; k++) {
        const char *text = translate_argument_text(c, k);
        if (text && translate_has_name(text, name))
            return free_name(c, arena_printf("%s_", name));
    }
    return name;
}

static void name_axes(completion_t *c)
{
    const directive_t *declared = c->n->d;
    for (int k = 0; k < declared->axis_count; k++)
        for (int i = 0; i < c->d->axis_count; i++)
            if (source_of(declared, k) == source_of(c->d, i))
                c->axis[k] = c->d->axis[i].name;
    for (int k = 0; k < declared->axis_count; k++) {
        bool given = c->axis[k];
        if (!given)
            c->axis[k] = free_name(c, declared->axis[k].name);
        for (int i = 0; !given && i < c->d->axis_count; i++)
            if (!strcmp(c->axis[k], c->d->axis[i].name))
                translate_fail(
                    c, arena_printf("axis '%s' of the launch is another than that of 'declare "
                                    "kernel' for kernel '%s'; call it otherwise",
                                    c->axis[k], cursor_name(c->n->kernel)));
    }
}

/* A bound of an axis, which needs no parentheses of its own. */
static const char *bound(completion_t *c, const expr_t *e)
{
    c->in_range = translate_is_word(c->s, e->begin, e->end);
    const char *text = translate_expression(c, e->begin, e->end);
    c->in_range = false;
    return text;
}

/* The declared ranges of axes that the launch has without one. */
static void find_ranges(completion_t *c, completed_t *out)
{
    const directive_t *declared = c->n->d;
    for (int k = 0; k < declared->axis_count; k++)
        for (int i = 0; i < c->d->axis_count; i++)
            if (source_of(declared, k) == source_of(c->d, i) && declared->axis[k].length &&
                !c->d->axis[i].length)
                out->range[i] = arena_printf("%s:%s", bound(c, declared->axis[k].lower),
                                             bound(c, declared->axis[k].length));
}

/* The declared axes that the launch does not have. */
static void find_axes(completion_t *c, completed_t *out)
{
    static const char *const sources[] = {"global.x", "global.y", "global.z",
                                          "block.x",  "block.y",  "block.z"};
    const directive_t *declared = c->n->d;
    for (int k = 0; k < declared->axis_count; k++) {
        const axis_t *axis = &declared->axis[k];
        bool given = false;
        for (int i = 0; i < c->d->axis_count; i++)
            given |= source_of(declared, k) == source_of(c->d, i);
        if (given || source_of(declared, k) > KMM_BLOCK_Z)
            continue;
        completed_axis_t *a = &out->axis[out->axis_count++];
        a->name = c->axis[k];
        if (c->d->axis_count || axis->source_given)
            a->name = arena_printf("%s: %s", a->name, sources[source_of(declared, k)]);
        if (axis->length)
            a->range = arena_printf("%s:%s", bound(c, axis->lower), bound(c, axis->length));
    }
}

/* ---- Items ---- */

/* The parameter with which the item's base begins; -1: none. */
static int parameter_of(const completion_t *c, const item_t *item)
{
    lexer_t l = lexer_at(c->s, item->base->begin, item->base->end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        for (int k = 0; k < c->n->count && t.kind == TOKEN_NAME; k++)
            if (token_is(c->s, t, c->n->name[k]))
                return k;
    return -1;
}

bool complete_is_null(const char *text)
{
    return !strcmp(text, "NULL") || !strcmp(text, "nullptr") || !strcmp(text, "0") ||
           !strcmp(text, "{}");
}

bool complete_covers(const directive_t *d, CXCursor argument)
{
    for (int k = 0; k < d->item_count; k++)
        if (cursor_is_related(argument, d->item[k].base->cursor))
            return true;
    return false;
}

static bool is_wanted(const completion_t *c, const item_t *item)
{
    int number = parameter_of(c, item);
    if (number < 0)
        return true;
    const char *text = translate_argument_text(c, number);
    return !(text && complete_is_null(text)) &&
           !complete_covers(c->d, translate_argument(c->d, number));
}

static const char *item_at_launch(completion_t *c, const item_t *item)
{
    text_t out = {0};
    c->in_section = false;
    text_printf(&out, "%s", translate_expression(c, item->base->begin, item->base->end));
    c->in_section = true;
    for (int k = 0; k < item->section_count; k++)
        text_printf(&out, "%s",
                    translate_expression(c, item->section[k].begin, item->section[k].end));
    c->in_section = false;
    return out.data;
}

static const char *word_of(const item_t *item)
{
    static const char *const ops[] = {"+", "*",  "min", "max",    "&",     "|",
                                      "^", "&&", "||",  "argmin", "argmax"};
    static const char *const words[] = {"", "read(", "write(", "update("};
    return item->mode == KMM_REDUCE ? arena_printf("reduce(%s: ", ops[item->op])
                                    : words[item->mode];
}

static void find_items(completion_t *c, completed_t *out)
{
    for (int k = 0; k < c->n->d->item_count; k++) {
        const item_t *item = &c->n->d->item[k];
        if (is_wanted(c, item))
            out->item[out->item_count++] =
                (completed_item_t){parameter_of(c, item), word_of(item), item_at_launch(c, item)};
    }
}

static bool has_shape(const completion_t *c, const char *base)
{
    for (int k = 0; k < c->d->shape_count; k++)
        if (!strcmp(source_words(c->u->source, c->d->shape[k].name.begin, c->d->shape[k].name.end),
                    base))
            return true;
    return false;
}

static void find_shapes(completion_t *c, completed_t *out)
{
    for (int k = 0; k < c->n->d->shape_count; k++) {
        const shape_t *shape = &c->n->d->shape[k];
        const char *name = token_text(c->s, shape->name);
        bool wanted = false;
        for (int i = 0; i < c->n->d->item_count; i++)
            wanted |= is_wanted(c, &c->n->d->item[i]) &&
                      !strcmp(source_words(c->s, c->n->d->item[i].base->begin,
                                           c->n->d->item[i].base->end),
                              name);
        const char *base =
            wanted ? translate_expression(c, shape->name.begin, shape->name.end) : "";
        if (wanted && !has_shape(c, base))
            out->shape[out->shape_count++] =
                arena_printf("%s%s", base, translate_expression(c, shape->name.end, shape->end));
    }
}

static void find_fits(completion_t *c, completed_t *out)
{
    enum { FITS_UNSIGNED = 1 }; /* in fits_types */
    const directive_t *d = c->n->d;
    for (int k = 0; k < d->fits_count; k++) {
        c->in_section = true;
        const char *text = translate_expression(c, d->fits[k].value->begin, d->fits[k].value->end);
        c->in_section = false;
        out->fits[out->fits_count++] =
            (completed_fits_t){d->fits[k].type, d->fits[k].in_grid, text};
    }
    for (int k = 0; k < c->n->count; k++) {
        const char *text = c->is_count[k] ? translate_argument_text(c, k) : NULL;
        if (text && out->fits_count == MAX_FITS)
            translate_fail(c, "more integers must fit into their bits than clauses can name");
        else if (text)
            out->fits[out->fits_count++] =
                (completed_fits_t){FITS_UNSIGNED, false, arena_printf("-((%s) < 0)", text)};
    }
}

/* Says of all parameters that the declaration is about why the launch has no clause for them. */
static void explain(const completion_t *c)
{
    for (int k = 0; k < c->n->d->item_count && c->d->uninferred && c->reason; k++) {
        int number = parameter_of(c, &c->n->d->item[k]);
        if (number >= 0)
            c->d->uninferred[number] = c->reason;
    }
    c->d->unsayable = c->reason;
}

completed_t *complete_find(unit_t *u, directive_t *d, const declaration_t *n)
{
    completion_t c = {.u = u, .d = d, .n = n, .s = n->s ? n->s : n->u->source};
    completed_t *out = arena_alloc(sizeof(*out));
    *out = (completed_t){.bounded = n->d->bounded && !d->bounded};
    name_axes(&c);
    find_ranges(&c, out);
    find_axes(&c, out);
    find_shapes(&c, out);
    find_items(&c, out);
    find_fits(&c, out);
    explain(&c);
    return c.failed ? NULL : out;
}

/* ---- The text ---- */

static const char *axes_text(const completed_t *x)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (int k = 0; k < x->axis_count; k++)
        text_printf(&out, "%s%s%s%s", k ? ", " : "", x->axis[k].name, x->axis[k].range ? " = " : "",
                    x->axis[k].range ? x->axis[k].range : "");
    return out.data;
}

const char *complete_axes_text(const directive_t *d, const completed_t *x)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (int k = 0; k < d->axis_count; k++)
        if (x->range[k])
            text_printf(&out, "%s%s = %s", out.length ? ", " : "", d->axis[k].name, x->range[k]);
    text_printf(&out, "%s%s", out.length && x->axis_count ? ", " : "", axes_text(x));
    return x->bounded ? arena_printf("%s, bounded", out.data) : out.data;
}

/* Neighbours of the same kind share a clause. */
static void add_items(const completed_t *x, text_t *out)
{
    const char *open = "";
    for (int k = 0; k < x->item_count; k++) {
        const completed_item_t *i = &x->item[k];
        if (strcmp(i->word, open))
            text_printf(out, "%s %s%s", *open ? ")" : "", i->word, i->text);
        else
            text_printf(out, ", %s", i->text);
        open = i->word;
    }
    text_printf(out, "%s", *open ? ")" : "");
}

static void add_fits(const completed_t *x, text_t *out)
{
    for (int k = 0; k < x->fits_count; k++) {
        const completed_fits_t *f = &x->fits[k], *last = k ? f - 1 : NULL;
        if (last && last->type == f->type && last->in_grid == f->in_grid)
            text_printf(out, ", %s", f->text);
        else
            text_printf(out, "%s fits(%s%s: %s", last ? ")" : "", fits_types[f->type].name,
                        f->in_grid ? " grid" : "", f->text);
    }
    if (x->fits_count)
        text_printf(out, ")");
}

static const char *clauses_text(const completed_t *x)
{
    text_t out = {0};
    text_add(&out, "", 0);
    for (int k = 0; k < x->shape_count; k++)
        text_printf(&out, "%s%s", k ? ", " : " shape(", x->shape[k]);
    text_printf(&out, "%s", x->shape_count ? ")" : "");
    add_items(x, &out);
    text_printf(&out, "%s", x->bounded ? " bounded" : "");
    add_fits(x, &out);
    return out.data;
}

/* ---- The completed pragma ---- */

/* Behind the last word of the pragma that is no comment. */
static size_t last_word(const unit_t *u, const directive_t *d)
{
    size_t end = d->pragma.content;
    lexer_t l = lexer_at(u->source, d->pragma.content, d->pragma.content_end);
    l.line_start = false;
    l.quoted = d->pragma.is_operator;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        end = t.end;
    return end;
}

static void insert_axes(unit_t *u, const directive_t *d, const char *axes)
{
    lexer_t l = lexer_at(u->source, d->name_end, d->pragma.content_end);
    l.line_start = false;
    token_t t = lex(&l);
    if (d->axis_count)
        complete_insert(u, d->axis[d->axis_count - 1].end, arena_printf(", %s", axes));
    else if (token_is(u->source, t, "("))
        complete_insert(u, t.end, axes);
    else
        complete_insert(u, d->name_end, arena_printf("(%s)", axes));
}

void complete_write(unit_t *u, directive_t *d, const completed_t *x)
{
    const char *axes = axes_text(x), *clauses = clauses_text(x);
    for (int k = 0; k < d->axis_count; k++)
        if (x->range[k])
            complete_insert(u, d->axis[k].end, escaped(d, arena_printf(" = %s", x->range[k])));
    if (*axes)
        insert_axes(u, d, escaped(d, axes));
    if (*clauses)
        complete_insert(u, last_word(u, d), escaped(d, clauses));
    d->added = arena_alloc(((size_t)x->item_count + 1) * sizeof(*d->added));
    for (int k = 0; k < x->item_count; k++)
        d->added[d->added_count++] = x->item[k].parameter;
}

bool complete_add(unit_t *u, directive_t *d, const declaration_t *n)
{
    const completed_t *x = complete_find(u, d, n);
    if (x)
        complete_write(u, d, x);
    return x;
}
