/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces __LINE__ in pragmas, and refuses macros in clauses that expand to it. */
#include "pragma/line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
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

/* Adds the name of the macro that the line defines if __LINE__ is in its text. */
static void add_asking(list_t *asking, const source_t *s, token_t line)
{
    token_t word;
    lexer_t l = lexer_in_directive(s, line, &word);
    if (!token_is(s, word, "define"))
        return;
    const char *macro = token_text(s, lex(&l));
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (token_is(s, t, name))
            list_add(asking, macro);
}

static list_t find_asking(const includes_t *includes)
{
    list_t asking = {0};
    for (int k = 0; k < includes->count; k++) {
        const source_t *s = includes->file[k]->source;
        lexer_t l = lexer_at(s, 0, strstr(s->text, name) ? s->length : 0);
        for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
            if (t.kind == TOKEN_DIRECTIVE)
                add_asking(&asking, s, t);
    }
    return asking;
}

static void refuse_asking(const list_t *asking, const source_t *s, token_t t)
{
    if (t.kind == TOKEN_NAME && asking->item && text_is_one_of(token_text(s, t), asking->item))
        diag_at(SEVERITY_ERROR, s, t.begin, t.end,
                "macro '%s' asks for __LINE__, which in a clause has to be written itself",
                token_text(s, t));
}

/* Adds the text up to the pragma's last __LINE__ with the numbers, and moves *from behind it. */
static void replace_in(const source_t *s, const pragma_t *p, const list_t *asking, size_t *from,
                       include_file_t *f, text_t *out)
{
    lexer_t l = lexer_within(s, p->content, p->content_end);
    l.quoted = p->is_operator;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        refuse_asking(asking, s, t);
        if (!token_is(s, t, name))
            continue;
        const char *number = number_of(s, source_line(s, t.begin));
        text_add(out, s->text + *from, t.begin - *from);
        includes_move(f, out->length, strlen(number) - strlen(name));
        text_add(out, number, strlen(number));
        *from = t.end;
    }
}

static void replace_in_file(include_file_t *f, const list_t *asking)
{
    const source_t *s = f->source;
    text_t out = {0};
    size_t from = 0;
    pragma_t pragma;
    for (size_t at = 0; pragma_next(s, &at, &pragma);)
        replace_in(s, &pragma, asking, &from, f, &out);
    if (from == 0)
        return;
    text_add(&out, s->text + from, s->length - from);
    source_t *changed = source_from(s->path, out.data, out.length);
    changed->completed = true;
    f->source = changed;
}

void line_replace(const includes_t *includes)
{
    const list_t asking = find_asking(includes);
    for (int k = 0; k < includes->count; k++)
        if (asking.count || strstr(includes->file[k]->source->text, name))
            replace_in_file(includes->file[k], &asking);
}
