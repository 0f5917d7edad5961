/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of clauses. */
#ifndef KMMCC_PRAGMA_EXPRESSION_H
#define KMMCC_PRAGMA_EXPRESSION_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum expr_kind {
    EXPR_NUMBER,
    EXPR_NAME,
    EXPR_UNARY,  /* op left */
    EXPR_BINARY, /* left op right */
    EXPR_CHOICE, /* left ? right : other */
    EXPR_CAST,   /* (type) left */
    EXPR_CALL,   /* left(right, right->next ...) */
    EXPR_OPAQUE /* member access, subscript, sizeof, string ...: text whose parts are left, right */
} expr_kind_t;

typedef struct expr expr_t;
struct expr {
    expr_kind_t kind;
    size_t begin, end;           /* in the source, parentheses included */
    size_t type_begin, type_end; /* EXPR_CAST: the type's text */
    const char *op;              /* of EXPR_UNARY and EXPR_BINARY; the name of EXPR_NAME */
    long long value;             /* EXPR_NUMBER when integral */
    bool integral;               /* EXPR_NUMBER: a decimal, hexadecimal, octal or binary integer */
    expr_t *left, *right, *other, *next;
    CXType type;     /* by bind.c, before conversions; CXType_Invalid where clang does not know */
    CXCursor cursor; /* by bind.c; null where clang does not know */
    /* By bind.c, of a name or call that is a macro's: */
    bool is_by_macro;
    bool is_open;  /* it expands to an operator and its operands */
    bool is_split; /* it is no operand of its own, as M in 2 * M, where M is a + b */
};

struct parser;
/* These return NULL after an error. An operand has no `?:` outside parentheses. */
expr_t *parse_expression(struct parser *p);
expr_t *parse_operand(struct parser *p);
expr_t *parse_path(struct parser *p); /* a name or a parenthesized expression, with members */

#endif
