/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the suggestions of --suggest. The source gets an empty pragma before each kernel launch
 * that has none. The later stages complete these pragmas, and their text is printed. */
#include "emit/suggestion.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "analyze/complete.h"
#include "analyze/known.h"
#include "base/arena.h"
#include "base/token.h"
#include "clang/cursor.h"

/* ---- Launches without a pragma ---- */

enum { MOST_NESTED = 256 };

/* Where statements begin, token by token. */
typedef struct statements {
    const source_t *s;
    struct {
        bool is_condition, is_parenthesis;
    } open[MOST_NESTED];
    int depth;
    bool begins;      /* the next token begins a statement */
    bool has_pragma;  /* a pragma stands before that */
    bool condition;   /* the token before is `if`, `for`, ... */
    size_t begin;     /* of the statement */
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

static void step(statements_t *x, token_t t)
{
    static const char *const conditions[] = {"if", "for", "while", "switch", NULL},
                             *const alone[] = {"else", "do", NULL};
    const source_t *s = x->s;
    bool inside = x->depth > 0 && x->open[x->depth - 1].is_parenthesis;
    if (x->begins) {
        x->begin = t.begin;
        x->is_governed = x->has_pragma;
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
    } else if ((token_is(s, t, ";") && !inside) || is_any(s, t, alone)) {
        x->begins = true;
    }
    x->condition = is_any(s, t, conditions);
}

const source_t *suggestion_mark(const source_t *s)
{
    statements_t x = {.s = s, .begins = true};
    text_t out = {0};
    size_t from = 0, marked = (size_t)-1;
    lexer_t l = lexer_at(s, 0, s->length);
    text_add(&out, "", 0);
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
        if (!token_is(s, t, "<<<") || x.is_governed || x.begin == marked || !x.depth)
            continue;
        marked = x.begin;
        text_add(&out, s->text + from, marked - from);
        text_printf(&out, "_Pragma(\"kmm parallel\") ");
        from = marked;
    }
    text_add(&out, s->text + from, s->length - from);
    source_t *changed = source_from(s->path, out.data, out.length);
    changed->completed = true;
    return changed;
}

/* ---- What is known ---- */

static const char *name_of(const unit_t *u, const directive_t *d, const known_t *k)
{
    size_t begin, end;
    if (k->param >= d->argument_count || !unit_range(u, d->argument[k->param], &begin, &end))
        return arena_printf("argument %d", k->param + 1);
    const char *text = unit_words(u, begin, end);
    return k->member < 0 ? text : arena_printf("the pointer at byte %d of %s", k->member, text);
}

void suggestion_add_known(const unit_t *u, const directive_t *d, text_t *out)
{
    const char *reason;
    const known_t *k = known_of_launch(u, d, &reason);
    if (reason)
        text_printf(out, "  analysis unknown: %s\n", reason);
    for (; k; k = k->next)
        text_printf(out, "  analysis %s: %s\n", name_of(u, d, k), known_text(k));
}

/* ---- Suggestions ---- */

static const char *pragma_of(const unit_t *u, const directive_t *d)
{
    const char *text = source_words(u->source, d->pragma.content, d->pragma.content_end);
    return strncmp(text, "kmm ", 4) ? arena_printf("kmm %s", text) : text;
}

static void print_open(const unit_t *u, const directive_t *d)
{
    const char *reason;
    const known_t *k = known_of_launch(u, d, &reason);
    if (reason)
        printf("    nothing is known: %s\n", reason);
    for (; k; k = k->next)
        if (k->param >= d->argument_count || !complete_covers(d, d->argument[k->param]))
            printf("    no clause for %s: %s\n", name_of(u, d, k),
                   k->knowledge == KNOWN_EXACTLY
                       ? "exact, but nothing keeps it in the array, or its chunks apart"
                       : known_text(k));
}

void suggestion_print(const unit_t *u)
{
    for (int k = 0; k < u->directive_count; k++) {
        const directive_t *d = u->directives[k];
        if (!d->bound || d->broken || d->kind != DIRECTIVE_PARALLEL || !d->is_kernel ||
            clang_Cursor_isNull(d->launch))
            continue;
        printf("%s:%u: #pragma %s\n", u->source->path, source_line(u->source, d->pragma.begin),
               pragma_of(u, d));
        print_open(u, d);
    }
}
