/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of one pragma as its parser goes through them, and its errors. */
#include "pragma/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"

void parser_advance(parser_t *p)
{
    p->last = p->token;
    p->last_end = p->token.end;
    p->token = lex(&p->lexer);
    if (p->token.kind == TOKEN_END) /* the caret of an error stands behind the last token */
        p->token.begin = p->token.end = p->last_end;
}

bool parser_at(const parser_t *p, const char *punctuator)
{
    return p->token.kind == TOKEN_PUNCTUATOR && token_is(p->s, p->token, punctuator);
}

static void note_macro(const parser_t *p, token_t t)
{
    if (t.kind == TOKEN_NAME && source_defines(p->s, token_text(p->s, t)))
        diag_at(SEVERITY_NOTE, p->s, t.begin, t.end,
                "'%s' is a macro; a macro in a clause stands for one expression",
                token_text(p->s, t));
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
    if (strncmp(message, "expected", strlen("expected")) != 0)
        return;
    note_macro(p, p->last);
    note_macro(p, p->token);
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
