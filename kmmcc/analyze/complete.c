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
static void insert_ranges(completion_t *c)
{
    const directive_t *declared = c->n->d;
    for (int k = 0; k < declared->axis_count; k++)
        for (int i = 0; i < c->d->axis_count; i++)
            if (source_of(declared, k) == source_of(c->d, i) && declared->axis[k].length &&
                !c->d->axis[i].length) {
                const char *range = arena_printf(" = %s:%s", bound(c, declared->axis[k].lower),
                                                 bound(c, declared->axis[k].length));
                if (!c->failed)
                    complete_insert(c->u, c->d->axis[i].end, escaped(c->d, range));
            }
}

/* The declared axes that the launch does not have. */
static void add_axes(completion_t *c, text_t *out)
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
        text_printf(out, "%s%s", out->length ? ", " : "", c->axis[k]);
        if (c->d->axis_count || axis->source_given)
            text_printf(out, ": %s", sources[source_of(declared, k)]);
        if (axis->length)
            text_printf(out, " = %s:%s", bound(c, axis->lower), bound(c, axis->length));
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

/* Neighbours of the same kind share a clause. */
static void add_items(completion_t *c, text_t *out)
{
    const char *open = "";
    for (int k = 0; k < c->n->d->item_count; k++) {
        const item_t *item = &c->n->d->item[k];
        if (!is_wanted(c, item))
            continue;
        const char *word = word_of(item), *text = item_at_launch(c, item);
        if (strcmp(word, open))
            text_printf(out, "%s %s%s", *open ? ")" : "", word, text);
        else
            text_printf(out, ", %s", text);
        open = word;
    }
    text_printf(out, "%s", *open ? ")" : "");
}

static bool has_shape(const completion_t *c, const char *base)
{
    for (int k = 0; k < c->d->shape_count; k++)
        if (!strcmp(source_words(c->u->source, c->d->shape[k].name.begin, c->d->shape[k].name.end),
                    base))
            return true;
    return false;
}

static void add_shapes(completion_t *c, text_t *out)
{
    text_t all = {0};
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
        if (!wanted || has_shape(c, base))
            continue;
        text_printf(&all, "%s%s%s", all.length ? ", " : "", base,
                    translate_expression(c, shape->name.end, shape->end));
    }
    if (all.length)
        text_printf(out, " shape(%s)", all.data);
}

/* ---- Conditions ---- */

static void add_fits(completion_t *c, text_t *out)
{
    const directive_t *d = c->n->d;
    for (int k = 0; k < d->fits_count; k++) {
        const fits_t *f = &d->fits[k], *last = k ? f - 1 : NULL;
        c->in_section = true;
        const char *text = translate_expression(c, f->value->begin, f->value->end);
        c->in_section = false;
        if (last && last->type == f->type && last->in_grid == f->in_grid)
            text_printf(out, ", %s", text);
        else
            text_printf(out, "%s fits(%s%s: %s", last ? ")" : "", fits_types[f->type].name,
                        f->in_grid ? " grid" : "", text);
    }
    if (d->fits_count)
        text_printf(out, ")");
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

bool complete_add(unit_t *u, directive_t *d, const declaration_t *n)
{
    completion_t c = {.u = u, .d = d, .n = n, .s = n->s ? n->s : n->u->source};
    text_t axes = {0}, clauses = {0};
    text_add(&axes, "", 0);
    text_add(&clauses, "", 0);
    name_axes(&c);
    insert_ranges(&c);
    add_axes(&c, &axes);
    add_shapes(&c, &clauses);
    add_items(&c, &clauses);
    if (n->d->bounded && !d->bounded)
        text_printf(&clauses, " bounded");
    add_fits(&c, &clauses);
    if (axes.length && !c.failed)
        insert_axes(u, d, escaped(d, axes.data));
    if (clauses.length && !c.failed)
        complete_insert(u, last_word(u, d), escaped(d, clauses.data));
    return !c.failed;
}
