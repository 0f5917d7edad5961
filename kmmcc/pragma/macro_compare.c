/* SPDX-License-Identifier: Apache-2.0 */
/* Compares preprocessed texts token by token. */
#include "pragma/macro_compare.h"

#include <stdlib.h>
#include <string.h>

#include "pragma/macro_use.h"

const char macro_operator_name[] = "kmm__pragma", macro_counter_name[] = "kmm__counter";

bool macro_contains(const source_t *s, token_t t, const char *text)
{
    return memmem(s->text + t.begin, t.end - t.begin, text, strlen(text)) != NULL;
}

static bool is_mark(const source_t *s, token_t t)
{
    const char *const marks[] = {USE_BEGIN, USE_END};
    for (size_t k = 0; k < sizeof(marks) / sizeof(*marks); k++)
        if (t.kind == TOKEN_NAME && !strncmp(s->text + t.begin, marks[k], strlen(marks[k])))
            return true;
    return false;
}

/* The next token that is neither a mark nor a line of the preprocessor. *last becomes the number of
 * the last mark before it. */
static token_t next_token(lexer_t *l, int *last)
{
    token_t t = lex(l);
    for (; t.kind == TOKEN_DIRECTIVE || is_mark(l->s, t); t = lex(l))
        if (t.kind == TOKEN_NAME)
            *last = atoi(strrchr(token_text(l->s, t), '_') + 1);
    return t;
}

/* The same, behind all _Pragma(...). */
static token_t next_but_pragmas(lexer_t *l)
{
    int none = 0;
    token_t t = next_token(l, &none);
    while (token_is(l->s, t, macro_operator_name)) {
        for (int k = 0; k < 3; k++) /* ( "..." ) */
            next_token(l, &none);
        t = next_token(l, &none);
    }
    return t;
}

/* True if the name x is y with a number in place of the counter's name. */
static bool is_counted(const char *x, const char *y)
{
    const char *at = strstr(y, macro_counter_name);
    size_t before = at ? (size_t)(at - y) : 0, digits;
    if (!at || strncmp(x, y, before) != 0)
        return false;
    digits = strspn(x + before, "0123456789");
    return digits && strcmp(x + before + digits, at + strlen(macro_counter_name)) == 0;
}

static bool is_same(const source_t *a, token_t x, const source_t *b, token_t y,
                    macro_comparison_t how)
{
    size_t length = x.end - x.begin;
    bool quotes = x.kind == TOKEN_STRING && y.kind == TOKEN_STRING &&
                  macro_contains(a, x, USE_BEGIN); /* is_quoted */
    if (quotes ||
        (length == y.end - y.begin && memcmp(a->text + x.begin, b->text + y.begin, length) == 0))
        return true;
    return how == COMPARE_FILES && is_counted(token_text(a, x), token_text(b, y));
}

int macro_first_change(const source_t *marked, const source_t *plain, macro_comparison_t how,
                       size_t *at)
{
    lexer_t a = lexer_at(marked, 0, marked->length), b = lexer_at(plain, 0, plain->length);
    for (int last = 0, none;;) {
        token_t x = next_token(&a, &last),
                y = how == COMPARE_FILES ? next_but_pragmas(&b) : next_token(&b, &none);
        *at = x.begin;
        if (!is_same(marked, x, plain, y, how))
            return last;
        if (x.kind == TOKEN_END)
            return -1;
    }
}
