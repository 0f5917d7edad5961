/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kmm pragmas of a file. */
#include <string.h>

#include "directive.h"

/* `#pragma kmm ...` as one preprocessor line; false for any other line. */
static bool read_directive(const source_t *s, token_t line, pragma_t *out)
{
    lexer_t l = lexer_at(s, line.begin, line.end);
    l.line_start = false;
    lex(&l); /* # */
    token_t pragma = lex(&l), kmm = lex(&l);
    if (!token_is(s, pragma, "pragma") || !token_is(s, kmm, "kmm"))
        return false;
    *out = (pragma_t){.begin = line.begin, .end = line.end, .content = kmm.end};
    while (out->end > out->content && strchr(" \t\r", s->text[out->end - 1]))
        out->end--;
    return true;
}

/* `_Pragma("kmm ...")`, whose first token is `name`. */
static bool read_operator(const source_t *s, token_t name, pragma_t *out)
{
    lexer_t l = lexer_at(s, name.end, s->length);
    l.line_start = false;
    token_t open = lex(&l), text = lex(&l), close = lex(&l);
    if (!token_is(s, open, "(") || text.kind != TOKEN_STRING || !token_is(s, close, ")"))
        return false;
    lexer_t inner = lexer_at(s, text.begin + 1, text.end - 1);
    inner.line_start = false;
    if (!token_is(s, lex(&inner), "kmm"))
        return false;
    *out = (pragma_t){.begin = name.begin, .end = close.end, .content = inner.at, .is_operator = true};
    return true;
}

/* `_Pragma` inside a macro's definition. */
static bool read_definition(const source_t *s, token_t line, pragma_t *out)
{
    lexer_t l = lexer_at(s, line.begin, line.end);
    l.line_start = false;
    lex(&l);
    if (!token_is(s, lex(&l), "define"))
        return false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (token_is(s, t, "_Pragma") && read_operator(s, t, out))
            return true;
    return false;
}

bool pragma_next(const source_t *s, size_t *from, pragma_t *out)
{
    lexer_t l = lexer_at(s, *from, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool found = t.kind == TOKEN_DIRECTIVE ? read_directive(s, t, out) || read_definition(s, t, out)
                                               : token_is(s, t, "_Pragma") && read_operator(s, t, out);
        if (found) {
            *from = out->end;
            return true;
        }
    }
    *from = s->length;
    return false;
}
