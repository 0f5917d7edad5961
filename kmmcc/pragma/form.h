/* SPDX-License-Identifier: Apache-2.0 */
/* Integers in 64 bits, as C text: known numbers, or expressions of the program. */
#ifndef KMMCC_PRAGMA_FORM_H
#define KMMCC_PRAGMA_FORM_H

#include <stdbool.h>

#include "base/source.h"
#include "pragma/expression.h"

/* An integer that is known, or a C expression for it. */
typedef struct form {
    bool known;
    long long value;  /* when known */
    const char *text; /* when not known */
    int precedence;   /* of its outermost operator, as in expression.c; FORM_PRIMARY for a name */
    bool wide;        /* its type is a signed one of 64 bits */
    bool safe;        /* its type can be converted to that without loss */
} form_t;

form_t form_number(long long value);
form_t form_of(const source_t *s, const expr_t *e); /* of an expression without axes */
form_t form_add(form_t a, form_t b);
form_t form_subtract(form_t a, form_t b);
form_t form_multiply(form_t a, form_t b);
const char *form_text(form_t f);
bool form_is(form_t f, long long value);

#endif
