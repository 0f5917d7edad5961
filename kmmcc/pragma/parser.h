/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the parser of one pragma, which all rules of its grammar share. */
#ifndef KMMCC_PARSER_H
#define KMMCC_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/source.h"
#include "base/token.h"

/* The number of items of an array. */
#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

struct directive;

typedef struct parser {
    const source_t *s;
    lexer_t lexer;
    token_t token; /* the next one */
    token_t last;  /* the one before it, which ended at last_end */
    size_t last_end;
    struct directive *d;
    token_t clause; /* the name of the clause that is being parsed */
    int depth;      /* of expressions within expressions */
    bool failed;    /* an error of the current clause has been reported */
} parser_t;

void parser_advance(parser_t *p);
bool parser_at(const parser_t *p, const char *punctuator);
/* Passes the token, or reports that it is missing. */
bool parser_expect(parser_t *p, const char *punctuator);
/* Reports at the next token; at most one error for each clause. */
void parser_error(parser_t *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool parser_at_word(const parser_t *p, const char *word);

#endif
