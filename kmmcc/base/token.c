/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of C and C++ text: just enough to find pragmas, to parse clauses and to edit declarations.
 */
#include "base/token.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

lexer_t lexer_at(const source_t *s, size_t begin, size_t end)
{
    size_t first = s->lines[0] < end ? s->lines[0] : end; /* behind a byte-order mark */
    return (lexer_t){.s = s, .at = begin > first ? begin : first, .end = end, .line_start = true};
}

lexer_t lexer_within(const source_t *s, size_t begin, size_t end)
{
    lexer_t l = lexer_at(s, begin, end);
    l.line_start = false;
    return l;
}

static int peek(const lexer_t *l, size_t ahead)
{
    return l->at + ahead < l->end ? (unsigned char)l->s->text[l->at + ahead] : 0;
}

/* Length of a line splice (`\` newline) at the current place; 0 if there is none. */
static size_t splice(const lexer_t *l)
{
    if (peek(l, 0) != '\\')
        return 0;
    if (peek(l, 1) == '\n')
        return 2;
    return peek(l, 1) == '\r' && peek(l, 2) == '\n' ? 3 : 0;
}

static void skip_line_comment(lexer_t *l)
{
    while (l->at < l->end && peek(l, 0) != '\n')
        l->at += splice(l) ? splice(l) : 1;
}

static void skip_block_comment(lexer_t *l)
{
    for (l->at += 2; l->at < l->end; l->at++) {
        if (peek(l, 0) == '*' && peek(l, 1) == '/') {
            l->at += 2;
            return;
        }
    }
}

static void skip_space(lexer_t *l)
{
    while (l->at < l->end) {
        if (splice(l)) {
            l->at += splice(l);
        } else if (isspace(peek(l, 0))) {
            l->line_start |= peek(l, 0) == '\n';
            l->at++;
        } else if (peek(l, 0) == '/' && peek(l, 1) == '/') {
            skip_line_comment(l);
        } else if (peek(l, 0) == '/' && peek(l, 1) == '*') {
            skip_block_comment(l);
        } else {
            return;
        }
    }
}

/* A preprocessor line ends at a newline that is neither spliced nor in a comment. */
static void skip_directive(lexer_t *l)
{
    while (l->at < l->end && peek(l, 0) != '\n') {
        if (splice(l))
            l->at += splice(l);
        else if (peek(l, 0) == '/' && peek(l, 1) == '/')
            skip_line_comment(l);
        else if (peek(l, 0) == '/' && peek(l, 1) == '*')
            skip_block_comment(l);
        else
            l->at++;
    }
}

/* A literal that is not closed ends with its line. */
static void skip_quoted(lexer_t *l, int quote)
{
    for (l->at++; l->at < l->end && peek(l, 0) != '\n'; l->at++) {
        if (peek(l, 0) == quote) {
            l->at++;
            return;
        }
        if (peek(l, 0) == '\\')
            l->at += splice(l) ? splice(l) - 1 : 1;
    }
}

/* \"...\", a string inside a string literal, whose own escapes begin with two backslashes. */
static void skip_escaped(lexer_t *l)
{
    for (l->at += 2; l->at < l->end; l->at++) {
        if (peek(l, 0) == '\\' && peek(l, 1) == '"') {
            l->at += 2;
            return;
        }
        if (peek(l, 0) == '\\' && peek(l, 1) == '\\')
            l->at += peek(l, 2) == '\\' ? 3 : 1;
    }
    l->at = l->end;
}

/* R"mark( ... )mark" */
static void skip_raw_string(lexer_t *l)
{
    const char *text = l->s->text;
    size_t mark = l->at + 1, open = mark;
    while (open < l->end && text[open] != '(' && text[open] != '\n')
        open++;
    size_t length = open - mark;
    for (size_t k = open; k + length + 1 < l->end; k++) {
        if (text[k] == ')' && !memcmp(text + k + 1, text + mark, length) &&
            text[k + 1 + length] == '"') {
            l->at = k + length + 2;
            return;
        }
    }
    l->at = l->end;
}

/* gcc and clang take `$` for a letter. */
static bool name_char(int c)
{
    return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

static token_kind_t lex_name(lexer_t *l)
{
    size_t begin = l->at;
    while (name_char(peek(l, 0)))
        l->at++;
    size_t length = l->at - begin;
    if (peek(l, 0) == '"' && length <= 3) {
        if (l->s->text[l->at - 1] == 'R')
            skip_raw_string(l);
        else
            skip_quoted(l, '"');
        return TOKEN_STRING;
    }
    return TOKEN_NAME;
}

static token_kind_t lex_number(lexer_t *l)
{
    while (name_char(peek(l, 0)) || peek(l, 0) == '.' ||
           (peek(l, 0) == '\'' && name_char(peek(l, 1))) ||
           ((peek(l, 0) == '+' || peek(l, 0) == '-') && strchr("eEpP", l->s->text[l->at - 1])))
        l->at++;
    return TOKEN_NUMBER;
}

/* `<::` is `<` and `::`, unless it goes on as `<:::` or `<::>`. */
static bool is_template_scope(const lexer_t *l)
{
    return peek(l, 0) == '<' && peek(l, 1) == ':' && peek(l, 2) == ':' && peek(l, 3) != ':' &&
           peek(l, 3) != '>';
}

static token_kind_t lex_punctuator(lexer_t *l)
{
    static const char *const longest_first[] = {
        "<<<", ">>>", "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "<<",
        ">>",  "<=",  ">=",  "==",  "!=",  "&&",  "||", "+=", "-=", "*=", "/=",
        "%=",  "&=",  "|=",  "^=",  "<:",  ":>",  "<%", "%>", "%:"};
    for (size_t k = 0; k < sizeof(longest_first) / sizeof(*longest_first); k++) {
        if (longest_first[k][0] != l->s->text[l->at])
            continue;
        size_t length = strlen(longest_first[k]);
        if (is_template_scope(l) && length == 2 && longest_first[k][1] == ':')
            continue;
        if (l->at + length <= l->end && !memcmp(l->s->text + l->at, longest_first[k], length)) {
            l->at += length;
            return TOKEN_PUNCTUATOR;
        }
    }
    l->at++;
    return TOKEN_PUNCTUATOR;
}

token_t lex(lexer_t *l)
{
    skip_space(l);
    if (l->at > l->end)
        l->at = l->end;
    token_t t = {.begin = l->at};
    int c = peek(l, 0);
    if (l->at >= l->end) {
        t.kind = TOKEN_END;
    } else if (l->line_start && (c == '#' || (c == '%' && peek(l, 1) == ':'))) {
        skip_directive(l);
        t.kind = TOKEN_DIRECTIVE;
    } else if (isdigit(c) || (c == '.' && isdigit(peek(l, 1)))) {
        t.kind = lex_number(l);
    } else if (name_char(c)) {
        t.kind = lex_name(l);
    } else if (l->quoted && c == '\\' && peek(l, 1) == '"') {
        skip_escaped(l);
        t.kind = TOKEN_STRING;
    } else if (c == '"' || c == '\'') {
        skip_quoted(l, c);
        t.kind = c == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
    } else {
        t.kind = lex_punctuator(l);
    }
    l->line_start = t.kind == TOKEN_DIRECTIVE;
    if (l->at > l->end) /* what is not closed ends with the text */
        l->at = l->end;
    t.end = l->at;
    return t;
}

/* The other spelling of a token; the token itself if it has none. */
static const char *digraph_of(const char *text)
{
    static const char *const spellings[][2] = {
        {"[", "<:"}, {"]", ":>"}, {"{", "<%"}, {"}", "%>"}, {"#", "%:"}};
    for (size_t k = 0; k < sizeof(spellings) / sizeof(*spellings) && text[0] && !text[1]; k++)
        if (text[0] == spellings[k][0][0])
            return spellings[k][1];
    return text;
}

bool token_is(const source_t *s, token_t t, const char *text)
{
    size_t length = strlen(text);
    if (t.end - t.begin != length) {
        text = digraph_of(text);
        length = strlen(text);
    }
    return t.end - t.begin == length && !memcmp(s->text + t.begin, text, length);
}

char *token_text(const source_t *s, token_t t)
{
    return arena_copy(s->text + t.begin, t.end - t.begin);
}

char *source_words(const source_t *s, size_t begin, size_t end)
{
    text_t out = {0};
    lexer_t l = lexer_at(s, begin, end);
    size_t last = begin;
    text_add(&out, "", 0);
    for (token_t t = lex(&l); t.kind != TOKEN_END; last = t.end, t = lex(&l)) {
        if (t.begin > last && out.length)
            text_add(&out, " ", 1);
        text_add(&out, s->text + t.begin, t.end - t.begin);
    }
    return out.data;
}

/* The declaration's first token: behind the last token that ends another one, or opens what it
 * stands in. Within parentheses, as in arguments of a macro that declares, none does. */
size_t source_declaration_begin(const source_t *s, size_t offset)
{
    lexer_t l = lexer_at(s, 0, s->length);
    size_t begin = offset;
    bool ended = true;
    int depth = 0;
    for (token_t t = lex(&l); t.kind != TOKEN_END && t.begin <= offset; t = lex(&l)) {
        if (ended)
            begin = t.begin;
        depth += token_is(s, t, "(") - token_is(s, t, ")");
        ended = depth <= 0 && (t.kind == TOKEN_DIRECTIVE || token_is(s, t, ";") ||
                               token_is(s, t, "{") || token_is(s, t, "}"));
    }
    return begin;
}

lexer_t lexer_in_directive(const source_t *s, token_t directive, token_t *word)
{
    lexer_t l = lexer_within(s, directive.begin, directive.end);
    lex(&l); /* # */
    *word = lex(&l);
    return l;
}

bool source_defines(const source_t *s, const char *name)
{
    token_t word;
    lexer_t l = lexer_at(s, 0, s->length);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        lexer_t inner = lexer_in_directive(s, t, &word);
        if (token_is(s, word, "define") && token_is(s, lex(&inner), name))
            return true;
    }
    return false;
}
