/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of the body of a PTX function. */
#ifndef KMMCC_PTX_STATEMENT_H
#define KMMCC_PTX_STATEMENT_H

#include <stddef.h>

typedef enum statement_kind {
    STATEMENT_END, /* of the text */
    STATEMENT_LABEL,
    STATEMENT_OPEN,  /* { */
    STATEMENT_CLOSE, /* } */
    STATEMENT_DIRECTIVE,
    STATEMENT_INSTRUCTION
} statement_kind_t;

typedef struct statement {
    statement_kind_t kind;
    size_t begin, end; /* of its text, with the semicolon */
    /* Without semicolon and comments; white space is one blank each. Of directives and instructions
     * only. */
    const char *text;
} statement_t;

/* Returns the first statement of the text that begins at `from` or behind it. */
statement_t statement_next(const char *text, size_t from);
/* Returns the offset of the first character at `from` or behind it that is neither white space nor
 * in a comment. */
size_t statement_skip(const char *text, size_t from);

#endif
