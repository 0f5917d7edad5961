/* SPDX-License-Identifier: Apache-2.0 */
/* Integer expressions as the generated source computes them: in 64 bits, whatever the types of the
 * leaves. */
#include "pragma/form.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/token.h"

enum { FORM_CHOICE = 0, FORM_ADD = 9, FORM_MULTIPLY = 10, FORM_UNARY = 11, FORM_PRIMARY = 12 };

form_t form_number(long long value)
{
    return (form_t){.known = true,
                    .value = value,
                    .precedence = value < 0 ? FORM_UNARY : FORM_PRIMARY,
                    .safe = true};
}

bool form_is(form_t f, long long value)
{
    return f.known && f.value == value;
}

const char *form_text(form_t f)
{
    if (!f.known)
        return f.text;
    return arena_printf(f.value > 2147483647LL || f.value < -2147483647LL ? "%lldLL" : "%lld",
                        f.value);
}

static const char *operand(form_t f, int least)
{
    return f.precedence < least ? arena_printf("(%s)", form_text(f)) : form_text(f);
}

static form_t widened(form_t f)
{
    if (f.wide || f.known)
        return f;
    return (form_t){.text = arena_printf("(long long)%s", operand(f, FORM_UNARY)),
                    .precedence = FORM_UNARY,
                    .wide = true,
                    .safe = true};
}

/* So that an operator on the two works on signed integers of 64 bits. */
static void widen(form_t *a, form_t *b)
{
    if (!a->safe)
        *a = widened(*a);
    if (!b->safe)
        *b = widened(*b);
    if (!a->wide && !b->wide)
        *(a->known ? b : a) = widened(*(a->known ? b : a));
}

static form_t join(form_t a, const char *op, form_t b, int precedence)
{
    widen(&a, &b);
    return (form_t){
        .text = arena_printf("%s %s %s", operand(a, precedence), op, operand(b, precedence + 1)),
        .precedence = precedence,
        .wide = true,
        .safe = true};
}

form_t form_add(form_t a, form_t b)
{
    long long sum;
    if (form_is(a, 0))
        return b;
    if (form_is(b, 0))
        return a;
    if (a.known && b.known && !__builtin_add_overflow(a.value, b.value, &sum))
        return form_number(sum);
    if (b.known && b.value < 0)
        return join(a, "-", form_number(-b.value), FORM_ADD);
    return join(a, "+", b, FORM_ADD);
}

static form_t negated(form_t f)
{
    if (f.known)
        return form_number(-f.value);
    const char *of = operand(widened(f), FORM_UNARY); /* `--` would be another operator */
    return (form_t){.text = arena_printf(*of == '-' ? "-(%s)" : "-%s", of),
                    .precedence = FORM_UNARY,
                    .wide = true,
                    .safe = true};
}

form_t form_subtract(form_t a, form_t b)
{
    if (b.known && b.value > -4611686018427387904LL)
        return form_add(a, form_number(-b.value));
    return form_is(a, 0) ? negated(b) : join(a, "-", b, FORM_ADD);
}

form_t form_multiply(form_t a, form_t b)
{
    long long product;
    if (form_is(a, 0) || form_is(b, 0))
        return form_number(0);
    if (form_is(a, 1))
        return b;
    if (form_is(b, 1))
        return a;
    if (form_is(a, -1) || form_is(b, -1))
        return negated(form_is(a, -1) ? b : a);
    if (a.known && b.known && !__builtin_mul_overflow(a.value, b.value, &product))
        return form_number(product);
    return join(a, "*", b, FORM_MULTIPLY);
}

/* ---- From expressions ---- */

static void set_width(form_t *f, CXType type)
{
    switch (clang_getCanonicalType(type).kind) {
    case CXType_Long:
    case CXType_LongLong: f->wide = f->safe = true; return;
    case CXType_Bool:
    case CXType_Char_S:
    case CXType_SChar:
    case CXType_UChar:
    case CXType_Short:
    case CXType_UShort:
    case CXType_Int:
    case CXType_UInt:
    case CXType_Enum: f->safe = true; return;
    default: return;
    }
}

static form_t leaf(const source_t *s, const expr_t *e)
{
    bool closed = e->kind == EXPR_NAME || e->kind == EXPR_CALL || e->kind == EXPR_OPAQUE ||
                  s->text[e->begin] == '(';
    form_t f = {.text = source_words(s, e->begin, e->end),
                .precedence = closed ? FORM_PRIMARY : FORM_UNARY};
    if (e->kind == EXPR_CAST)
        f.precedence = FORM_UNARY;
    else if (e->is_open && s->text[e->begin] != '(')
        f.text = arena_printf("(%s)", f.text);
    set_width(&f, e->type);
    return f;
}

static int precedence_of(const char *op)
{
    static const struct {
        const char *op;
        int precedence;
    } table[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6}, {"!=", 6},
                 {"<", 7},  {">", 7},  {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}};
    for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++)
        if (!strcmp(op, table[k].op))
            return table[k].precedence;
    return FORM_MULTIPLY;
}

/* A quotient by a positive number is right in the leaf's own type, too. */
static form_t quotient(form_t a, const char *op, form_t b)
{
    if (!b.known || b.value <= 0 || a.known || b.value > 2147483647)
        return join(a, op, b, FORM_MULTIPLY);
    return (form_t){.text = arena_printf("%s %s %s", operand(a, FORM_MULTIPLY), op, form_text(b)),
                    .precedence = FORM_MULTIPLY,
                    .wide = a.wide,
                    .safe = a.safe};
}

static form_t binary(const source_t *s, const expr_t *e)
{
    form_t a = form_of(s, e->left), b = form_of(s, e->right);
    switch (e->op[0]) {
    case '+': return form_add(a, b);
    case '-': return form_subtract(a, b);
    case '*': return form_multiply(a, b);
    case '/':
    case '%': return quotient(a, e->op, b);
    default: return join(a, e->op, b, precedence_of(e->op));
    }
}

static form_t choice(const source_t *s, const expr_t *e)
{
    form_t a = form_of(s, e->left), b = form_of(s, e->right), c = form_of(s, e->other);
    widen(&b, &c);
    return (form_t){.text = arena_printf("%s ? %s : %s", operand(a, FORM_CHOICE + 1),
                                         operand(b, FORM_CHOICE + 1), form_text(c)),
                    .precedence = FORM_CHOICE,
                    .wide = true,
                    .safe = true};
}

form_t form_of(const source_t *s, const expr_t *e)
{
    switch (e->kind) {
    case EXPR_NUMBER: return form_number(e->value);
    case EXPR_UNARY:
        if (e->op[0] == '-')
            return negated(form_of(s, e->left));
        return e->op[0] == '+' ? form_of(s, e->left) : leaf(s, e);
    case EXPR_BINARY: return binary(s, e);
    case EXPR_CHOICE: return choice(s, e);
    case EXPR_NAME:
    case EXPR_CAST:
    case EXPR_CALL:
    case EXPR_OPAQUE: break;
    }
    return leaf(s, e);
}
