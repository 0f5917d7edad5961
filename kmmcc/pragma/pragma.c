/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kmm pragmas of a file. */
#include "pragma/pragma.h"

#include <string.h>

#include "base/token.h"

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
    out->content_end = out->end;
    return true;
}

static bool is_closed(const source_t *s, token_t literal)
{
    size_t open = literal.begin;
    while (s->text[open] != '"')
        open++;
    return literal.end - open >= 2 && s->text[literal.end - 1] == '"';
}

/* The text between the quotes of a literal: "...", or R"x(...)x". */
static void literal_content(const source_t *s, token_t literal, size_t *begin, size_t *end)
{
    *begin = literal.begin;
    *end = literal.end - 1;
    while (s->text[*begin] != '"')
        ++*begin;
    bool raw = *begin > literal.begin && s->text[*begin - 1] == 'R';
    ++*begin;
    while (raw && *begin < *end && s->text[*begin - 1] != '(')
        ++*begin;
    while (raw && *end > *begin && s->text[*end] != ')')
        --*end;
}

/* `_Pragma("kmm ...")`, whose first token is `name`. */
static bool read_operator(const source_t *s, token_t name, pragma_t *out)
{
    lexer_t l = lexer_at(s, name.end, s->length);
    size_t begin, end;
    l.line_start = false;
    token_t open = lex(&l), text = lex(&l), close = lex(&l);
    if (!token_is(s, open, "(") || text.kind != TOKEN_STRING || !token_is(s, close, ")") ||
        !is_closed(s, text))
        return false;
    literal_content(s, text, &begin, &end);
    lexer_t inner = lexer_at(s, begin, end);
    inner.line_start = false;
    if (!token_is(s, lex(&inner), "kmm"))
        return false;
    *out = (pragma_t){.begin = name.begin,
                      .end = close.end,
                      .content = inner.at,
                      .content_end = end,
                      .is_operator = true};
    return true;
}

bool pragma_next(const source_t *s, size_t *from, pragma_t *out)
{
    lexer_t l = lexer_at(s, *from, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool found = t.kind == TOKEN_DIRECTIVE
                         ? read_directive(s, t, out)
                         : token_is(s, t, "_Pragma") && read_operator(s, t, out);
        if (found) {
            *from = out->end;
            return true;
        }
    }
    *from = s->length;
    return false;
}

/* True at `kmm parallel` or another directive, as the first words of _Pragma's string. */
static bool at_directive(const source_t *s, lexer_t l)
{
    static const char *const names[] = {"parallel", "task", "declare", "data",
                                        "enter",    "exit", "update",  "wait"};
    l.line_start = false;
    if (!token_is(s, lex(&l), "kmm"))
        return false;
    token_t name = lex(&l);
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (token_is(s, name, names[k]))
            return true;
    return false;
}

/* True at `kmm` and a name, as the first words of a macro's argument: the name may be a macro. */
static bool at_words(const source_t *s, lexer_t l)
{
    l.line_start = false;
    return token_is(s, lex(&l), "kmm") && lex(&l).kind == TOKEN_NAME;
}

static bool names_directive(const source_t *s, size_t begin, size_t end)
{
    lexer_t l = lexer_at(s, begin, end);
    l.line_start =
        begin == 0 || s->text[begin - 1] != '#'; /* a preprocessor directive contains none */
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool found = t.kind == TOKEN_DIRECTIVE ? names_directive(s, t.begin + 1, t.end)
                     : t.kind == TOKEN_STRING  ? at_directive(s, lexer_at(s, t.begin + 1, t.end))
                                               : token_is(s, t, "(") && at_words(s, l);
        if (found)
            return true;
    }
    return false;
}

bool source_may_write_pragma(const source_t *s)
{
    return strstr(s->text, "kmm") && names_directive(s, 0, s->length);
}

bool source_has_pragma(const source_t *s)
{
    pragma_t found;
    size_t from = 0;
    return pragma_next(s, &from, &found) || source_may_write_pragma(s);
}
