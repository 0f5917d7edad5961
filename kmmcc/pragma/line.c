/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces __LINE__ in pragmas, and refuses macros in clauses that expand to it. */
#include "pragma/line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"
#include "base/token.h"
#include "pragma/pragma.h"

static const char name[] = "__LINE__";

/* The number that __LINE__ is on that line. */
static const char *number_of(const source_t *s, unsigned line)
{
    return arena_printf("%ld", strtol(source_line_marker(s, line) + strlen("#line "), NULL, 10));
}

/* ---- Macros that ask for __LINE__ ---- */

/* A macro whose text has __LINE__. It stays defined behind an #undef that an #if chooses. */
typedef struct asking {
    const char *macro;
    int undefined_in; /* the #undef is within so many #if; -1: there is none */
} asking_t;

/* The walk over all files, in the order in which the compiler reads them. */
typedef struct walk {
    const includes_t *includes;
    asking_t *asking;
    int count, capacity;
    int depth; /* of #if */
    int *seen; /* for each file: 1 + the number of macros that were known when it was walked */
} walk_t;

static void undefine(walk_t *w, const char *macro)
{
    for (int k = 0; k < w->count; k++)
        if (!strcmp(w->asking[k].macro, macro))
            w->asking[k].undefined_in = w->depth;
}

/* Adds the macro that the line defines if __LINE__ is in its text. */
static void define(walk_t *w, const source_t *s, lexer_t l)
{
    const char *macro = token_text(s, lex(&l));
    token_t t = lex(&l);
    while (t.kind != TOKEN_END && !token_is(s, t, name))
        t = lex(&l);
    if (t.kind == TOKEN_END)
        return;
    for (int k = 0; k < w->count; k++)
        if (!strcmp(w->asking[k].macro, macro)) {
            w->asking[k].undefined_in = -1;
            return;
        }
    w->asking = arena_grow(w->asking, w->count, &w->capacity, sizeof(*w->asking));
    w->asking[w->count++] = (asking_t){macro, -1};
}

/* Another branch of an #if, or its end: what is undefined in it may be defined. */
static void leave_branch(walk_t *w)
{
    for (int k = 0; k < w->count; k++)
        if (w->asking[k].undefined_in >= w->depth)
            w->asking[k].undefined_in = -1;
}

static void walk_file(walk_t *w, const include_file_t *f, bool again);

static void walk_include(walk_t *w, const include_file_t *f, token_t line)
{
    for (int k = 0; k < f->include_count; k++)
        if (f->include[k].begin >= line.begin && f->include[k].end <= line.end)
            walk_file(w, f->include[k].file, f->include[k].by_macro);
}

static void walk_line(walk_t *w, const include_file_t *f, token_t line)
{
    const source_t *s = f->source;
    token_t word;
    lexer_t l = lexer_in_directive(s, line, &word);
    if (token_is(s, word, "define"))
        define(w, s, l);
    else if (token_is(s, word, "undef"))
        undefine(w, token_text(s, lex(&l)));
    else if (token_is(s, word, "include"))
        walk_include(w, f, line);
    else if (token_is(s, word, "if") || token_is(s, word, "ifdef") || token_is(s, word, "ifndef"))
        w->depth++;
    else if (s->text[word.begin] == 'e' && s->text[word.begin + 1] != 'r') { /* not #error */
        leave_branch(w);
        w->depth -= token_is(s, word, "endif");
    }
}

static void refuse_asking(const walk_t *w, const source_t *s, const pragma_t *p)
{
    lexer_t l = lexer_within(s, p->content, p->content_end);
    l.quoted = p->is_operator;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        for (int k = 0; k < w->count; k++)
            if (w->asking[k].undefined_in < 0 && token_is(s, t, w->asking[k].macro)) {
                diag_at(SEVERITY_ERROR, s, t.begin, t.end,
                        "macro '%s' asks for __LINE__, which in a clause has to be written itself",
                        token_text(s, t));
                break;
            }
}

/* A file without an include guard is a file of its own for each #include, unless a macro names it:
 * then it is walked again if there are more macros. */
static void walk_file(walk_t *w, const include_file_t *f, bool again)
{
    int *seen = w->seen;
    for (int k = 0; w->includes->file[k] != f; k++)
        seen++;
    if (*seen > (again ? w->count : 0))
        return;
    *seen = 1 + w->count;
    pragma_t pragma;
    size_t at = 0;
    bool more = pragma_next(f->source, &at, &pragma);
    lexer_t l = lexer_at(f->source, 0, f->source->length);
    for (token_t t = lex(&l);; t = lex(&l)) {
        for (; more && (t.kind == TOKEN_END || pragma.begin < t.end);
             more = pragma_next(f->source, &at, &pragma))
            refuse_asking(w, f->source, &pragma);
        if (t.kind == TOKEN_END)
            return;
        if (t.kind == TOKEN_DIRECTIVE)
            walk_line(w, f, t);
    }
}

/* Headers of -include come before the source. */
static void refuse_all_asking(const includes_t *includes)
{
    walk_t w = {.includes = includes};
    w.seen = arena_alloc((size_t)includes->count * sizeof(*w.seen));
    for (int k = 1; k < includes->count; k++)
        if (includes->file[k]->is_forced)
            walk_file(&w, includes->file[k], false);
    walk_file(&w, includes->file[0], false);
}

/* ---- Numbers ---- */

/* Adds the text up to the pragma's last __LINE__ with the numbers, and moves *from behind it. */
static void replace_in(const source_t *s, const pragma_t *p, size_t *from, include_file_t *f,
                       text_t *out)
{
    lexer_t l = lexer_within(s, p->content, p->content_end);
    l.quoted = p->is_operator;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (!token_is(s, t, name))
            continue;
        const char *number = number_of(s, source_line(s, t.begin));
        text_add(out, s->text + *from, t.begin - *from);
        includes_move(f, out->length, strlen(number) - strlen(name));
        text_add(out, number, strlen(number));
        *from = t.end;
    }
}

static void replace_in_file(include_file_t *f)
{
    const source_t *s = f->source;
    text_t out = {0};
    size_t from = 0;
    pragma_t pragma;
    for (size_t at = 0; pragma_next(s, &at, &pragma);)
        replace_in(s, &pragma, &from, f, &out);
    if (from == 0)
        return;
    text_add(&out, s->text + from, s->length - from);
    source_t *changed = source_from(s->path, out.data, out.length);
    changed->completed = true;
    f->source = changed;
}

void line_replace(const includes_t *includes)
{
    bool any = false;
    for (int k = 0; k < includes->count; k++)
        any |= strstr(includes->file[k]->source->text, name) != NULL;
    if (!any)
        return;
    refuse_all_asking(includes);
    for (int k = 0; k < includes->count; k++)
        if (strstr(includes->file[k]->source->text, name))
            replace_in_file(includes->file[k]);
}
