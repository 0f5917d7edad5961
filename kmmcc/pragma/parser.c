/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of one pragma as its parser goes through them, and its errors. */
#include "pragma/parser.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"

void parser_advance(parser_t *p)
{
    p->last_end = p->token.end;
    p->token = lex(&p->lexer);
    if (p->token.kind == TOKEN_END) /* the caret of an error stands behind the last token */
        p->token.begin = p->token.end = p->last_end;
}

bool parser_at(const parser_t *p, const char *punctuator)
{
    return p->token.kind == TOKEN_PUNCTUATOR && token_is(p->s, p->token, punctuator);
}

void parser_error(parser_t *p, const char *format, ...)
{
    char message[1024];
    va_list list;
    if (p->failed)
        return;
    p->failed = true;
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    diag_at(SEVERITY_ERROR, p->s, p->token.begin, p->token.end, "%s", message);
}

bool parser_expect(parser_t *p, const char *punctuator)
{
    if (!parser_at(p, punctuator))
        return parser_error(p, "expected '%s'", punctuator), false;
    parser_advance(p);
    return true;
}

bool parser_at_word(const parser_t *p, const char *word)
{
    return p->token.kind == TOKEN_NAME && token_is(p->s, p->token, word);
}
