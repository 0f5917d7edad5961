/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel launches of a source that have no pragma, and the source with pragmas for them. */
#include "emit/mark.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/token.h"

enum { MOST_NESTED = 256, COLUMNS = 100 };

/* ---- Where statements begin ---- */

typedef struct statements {
    const source_t *s;
    struct {
        bool is_condition, is_parenthesis;
    } open[MOST_NESTED];
    int depth;
    bool begins;      /* the next token begins a statement */
    bool has_pragma;  /* a pragma stands before that */
    bool condition;   /* the token before is `if`, `for`, ... */
    bool is_label;    /* the statement begins with `case` or `default` */
    size_t begin;     /* of the statement */
    bool is_inside;   /* that is within parentheses */
    bool is_governed; /* it has a pragma */
} statements_t;

static bool is_kmm(const source_t *s, token_t t)
{
    const char *text = token_text(s, t);
    return strstr(text, "pragma") && strstr(text, "kmm");
}

static bool is_any(const source_t *s, token_t t, const char *const *words)
{
    for (; *words; words++)
        if (token_is(s, t, *words))
            return true;
    return false;
}

static bool is_inside(const statements_t *x)
{
    for (int k = 0; k < x->depth; k++)
        if (x->open[k].is_parenthesis)
            return true;
    return false;
}

static void step(statements_t *x, token_t t)
{
    static const char *const conditions[] = {"if", "for", "while", "switch", NULL},
                             *const alone[] = {"else", "do", NULL},
                             *const labels[] = {"case", "default", NULL};
    const source_t *s = x->s;
    bool inside = x->depth > 0 && x->open[x->depth - 1].is_parenthesis;
    if (x->begins) {
        x->begin = t.begin;
        x->is_inside = is_inside(x);
        x->is_governed = x->has_pragma;
        x->is_label = is_any(s, t, labels);
    }
    x->begins = x->has_pragma = false;
    bool opens = token_is(s, t, "("), brace = token_is(s, t, "{");
    if ((opens || brace) && x->depth < MOST_NESTED) {
        x->open[x->depth].is_condition = opens && x->condition;
        x->open[x->depth++].is_parenthesis = opens;
        x->begins = brace;
    } else if ((token_is(s, t, ")") || token_is(s, t, "}")) && x->depth > 0) {
        x->begins = !x->open[--x->depth].is_parenthesis || x->open[x->depth].is_condition;
        x->has_pragma = x->begins && x->is_governed && x->open[x->depth].is_condition;
    } else if (x->is_label && !inside && token_is(s, t, ":")) {
        x->begins = true;
        x->has_pragma = x->is_governed;
    } else if ((token_is(s, t, ";") && !inside) || is_any(s, t, alone)) {
        x->begins = true;
    }
    x->condition = is_any(s, t, conditions);
}

/* The name before `<<<`, without template arguments. */
static const char *name_before(const source_t *s, size_t begin, size_t end)
{
    const char *name = "a kernel";
    int angles = 0;
    lexer_t l = lexer_at(s, begin, end);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        angles += token_is(s, t, "<") - token_is(s, t, ">");
        if (t.kind == TOKEN_NAME && !angles)
            name = token_text(s, t);
    }
    return name;
}

static void add(marks_t *m, const statements_t *x, size_t launch)
{
    m->at = arena_grow(m->at, m->count, &m->capacity, sizeof(*m->at));
    m->at[m->count++] = (mark_t){.begin = x->begin,
                                 .inside = x->is_inside,
                                 .name = name_before(m->source, x->begin, launch)};
}

marks_t *mark_launches(const source_t *s)
{
    marks_t *m = arena_alloc(sizeof(*m));
    statements_t x = {.s = s, .begins = true};
    lexer_t l = lexer_at(s, 0, s->length);
    *m = (marks_t){.source = s};
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind == TOKEN_DIRECTIVE) {
            x.has_pragma |= x.begins && is_kmm(s, t);
            continue;
        }
        if (x.begins && token_is(s, t, "_Pragma")) {
            lex(&l);
            x.has_pragma |= strstr(token_text(s, lex(&l)), "kmm") != NULL;
            lex(&l);
            continue;
        }
        step(&x, t);
        if (token_is(s, t, "<<<") && !x.is_governed && x.depth &&
            !(m->count && m->at[m->count - 1].begin == x.begin))
            add(m, &x, t.begin);
    }
    return m;
}

/* ---- Texts with pragmas ---- */

static const source_t *changed(const marks_t *m, const text_t *out)
{
    source_t *s = source_from(m->source->path, out->data, out->length);
    s->completed = true;
    return s;
}

static void copy_until(const marks_t *m, size_t *from, size_t to, text_t *out)
{
    text_add(out, m->source->text + *from, to - *from);
    *from = to;
}

const source_t *mark_trial(const marks_t *m)
{
    text_t out = {0};
    size_t from = 0;
    text_add(&out, "", 0);
    for (int k = 0; k < m->count; k++) {
        copy_until(m, &from, m->at[k].begin, &out);
        text_printf(&out, "_Pragma(\"kmm parallel /*mark %d*/\") ", k);
    }
    copy_until(m, &from, m->source->length, &out);
    return changed(m, &out);
}

mark_t *mark_of(marks_t *m, const unit_t *u, const directive_t *d)
{
    int number;
    const source_t *s = u->source;
    if (u != u->main || !d->pragma.is_operator)
        return NULL;
    const char *text = arena_copy(s->text + d->pragma.begin, d->pragma.end - d->pragma.begin),
               *found = strstr(text, "/*mark ");
    if (!found || sscanf(found, "/*mark %d*/", &number) != 1 || number >= m->count)
        return NULL;
    return &m->at[number];
}

static const char *as_operator(const char *pragma)
{
    return arena_printf("_Pragma(%s) ", text_quoted(pragma));
}

const source_t *mark_chosen(const marks_t *m)
{
    text_t out = {0};
    size_t from = 0;
    text_add(&out, "", 0);
    for (int k = 0; k < m->count; k++) {
        copy_until(m, &from, m->at[k].begin, &out);
        if (m->at[k].pragma)
            text_printf(&out, "%s", as_operator(m->at[k].pragma));
    }
    copy_until(m, &from, m->source->length, &out);
    return changed(m, &out);
}

/* The pragma on lines of its own; one that is too long is continued before a clause. */
static void add_lines(const char *indent, const char *pragma, const char *eol, text_t *out)
{
    size_t column = strlen(indent) + strlen("#pragma");
    text_printf(out, "%s#pragma", indent);
    while (*pragma) {
        size_t length = 0;
        int depth = 0;
        for (; pragma[length] && (depth || pragma[length] != ' '); length++)
            depth += (pragma[length] == '(') - (pragma[length] == ')');
        if (column + 1 + length > COLUMNS - 2 && column > strlen(indent) + 9) {
            text_printf(out, " \\%s%s       ", eol, indent);
            column = strlen(indent) + 7;
        }
        text_printf(out, " %.*s", (int)length, pragma);
        column += length + 1;
        pragma += length + strspn(pragma + length, " ");
    }
    text_printf(out, "%s", eol);
}

const char *mark_written(const marks_t *m)
{
    const source_t *s = m->source;
    text_t out = {0};
    size_t from = 0;
    const char *first = strchr(s->text, '\n');
    const char *eol = first && first > s->text && first[-1] == '\r' ? "\r\n" : "\n";
    text_add(&out, "", 0);
    for (int k = 0; k < m->count; k++) {
        const mark_t *a = &m->at[k];
        size_t line = s->lines[source_line(s, a->begin) - 1];
        if (!a->pragma)
            continue;
        if (a->inside || !source_begins_line(s, a->begin)) {
            copy_until(m, &from, a->begin, &out);
            text_printf(&out, "%s", as_operator(a->pragma));
            continue;
        }
        copy_until(m, &from, line, &out);
        add_lines(arena_copy(s->text + line, a->begin - line), a->pragma, eol, &out);
    }
    copy_until(m, &from, s->length, &out);
    return out.data;
}

int mark_count(const marks_t *m)
{
    int count = 0;
    for (int k = 0; k < m->count; k++)
        count += m->at[k].pragma != NULL;
    return count;
}

void mark_print(const marks_t *m)
{
    for (int k = 0; k < m->count; k++) {
        const mark_t *at = &m->at[k];
        unsigned line = source_line(m->source, at->begin);
        if (at->pragma)
            printf("%s:%u: #pragma %s\n", m->source->path, line, at->pragma);
        else if (at->is_seen)
            printf("%s:%u: no pragma for the launch of '%s': %s\n", m->source->path, line, at->name,
                   at->reason);
    }
}
