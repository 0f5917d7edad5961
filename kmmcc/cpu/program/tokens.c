/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a file in an array, to look back as well as ahead. */
#include "cpu/program/tokens.h"

#include "base/arena.h"

static void tokens_add(tokens_t *list, token_t t)
{
    list->at = arena_grow(list->at, list->count, &list->capacity, sizeof(*list->at));
    list->at[list->count++] = t;
}

/* Appends the tokens of [begin, end) to *out. A #define line gives its tokens from the macro's name
 * on; other preprocessor lines give none. */
void tokens_read(const source_t *s, size_t begin, size_t end, tokens_t *out)
{
    lexer_t l = lexer_at(s, begin, end);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_DIRECTIVE) {
            tokens_add(out, t);
            continue;
        }
        token_t word;
        lexer_t inner = lexer_in_directive(s, t, &word);
        tokens_t line = {0};
        for (token_t i = word; token_is(s, word, "define") && i.kind != TOKEN_END;
             inner.line_start = false, i = lex(&inner))
            tokens_add(&line, i);
        for (int k = 1; k < line.count; k++)
            tokens_add(out, line.at[k]);
    }
}

bool tokens_is(const source_t *s, const tokens_t *list, int k, const char *text)
{
    return k >= 0 && k < list->count && token_is(s, list->at[k], text);
}
