/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of C and C++ text. */
#ifndef KMMCC_BASE_TOKEN_H
#define KMMCC_BASE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHARACTER,
    TOKEN_PUNCTUATOR,
    TOKEN_DIRECTIVE /* a whole preprocessor line */
} token_kind_t;
typedef struct token {
    token_kind_t kind;
    size_t begin, end;
} token_t;
/* quoted: the text is that of a string literal, in which quotes are written as \". */
typedef struct lexer {
    const source_t *s;
    size_t at, end;
    bool line_start, quoted;
} lexer_t;

lexer_t lexer_at(const source_t *s, size_t begin, size_t end);
/* Returns the same from within a line: a `#` there begins no preprocessor line. */
lexer_t lexer_within(const source_t *s, size_t begin, size_t end);
/* Returns a lexer for the rest of a preprocessor line; *word gets the line's first word. */
lexer_t lexer_in_directive(const source_t *s, token_t directive, token_t *word);
token_t lex(lexer_t *l); /* comments, white space and line splices are skipped */
bool token_is(const source_t *s, token_t t, const char *text);
char *token_text(const source_t *s, token_t t);
/* Returns the tokens of [begin, end) on one line, with one space wherever something was between
 * them. */
char *source_words(const source_t *s, size_t begin, size_t end);
/* True if a line of the file defines the macro. */
bool source_defines(const source_t *s, const char *name);
/* Returns where the declaration at `offset` begins, behind the declaration before it and its
 * comments. */
size_t source_declaration_begin(const source_t *s, size_t offset);

#endif
