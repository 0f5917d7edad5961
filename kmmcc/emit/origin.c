/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pointer from which an expression computes an address. A base of an item stands in a pragma,
 * so its text comes from the parsed clause and its types from clang: both trees are walked at once.
 * An argument has clang's tree alone.
 */
#include "emit/origin.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "clang/callee.h"
#include "clang/cursor.h"

typedef struct node {
    const unit_t *u;
    const directive_t *d; /* NULL: of a base */
    const expr_t *expr;   /* NULL: of an argument */
    CXCursor cursor;
} node_t;

static const char *value_origin(node_t n);
static const char *place_origin(node_t n);

const char *origin_bare(const char *text)
{
    size_t length = strlen(text);
    while (length > 2 && text[0] == '(' && text[length - 1] == ')') {
        int depth = 0;
        size_t k = 0;
        do
            depth += (text[k] == '(') - (text[k] == ')');
        while (depth && ++k < length);
        if (k + 1 != length)
            break;
        text = arena_printf("%.*s", (int)length - 2, text + 1);
        length -= 2;
    }
    return text;
}

/* Below parentheses and conversions that are not written. */
static CXCursor below_wrappers(CXCursor c)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(c);
        cursors_t list = cursor_children(c);
        if ((kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr) || list.count != 1)
            return c;
        c = list.at[0];
    }
}

/* True if the cursor's range is its text: no macro writes it, or it is a name that is an argument
 * of one. */
static bool has_text(CXCursor c)
{
    return cursor_is_written_out(c) ||
           (clang_getCursorKind(c) == CXCursor_DeclRefExpr && !cursor_is_from_body(c));
}

/* The range of an argument, which a macro writes at least in part. */
static bool find_whole(node_t n, size_t *begin, size_t *end)
{
    for (int k = 0; n.d && k < n.d->argument_count; k++)
        if (clang_equalCursors(below_wrappers(n.d->argument[k]), n.cursor))
            return callee_argument_range(n.u, n.d, n.d->argument[k], begin, end);
    return false;
}

static const char *text_of(node_t n)
{
    size_t begin, end;
    if (n.expr)
        return origin_bare(source_words(n.u->source, n.expr->begin, n.expr->end));
    if (has_text(n.cursor) ? !unit_range(n.u, n.cursor, &begin, &end)
                           : !find_whole(n, &begin, &end))
        return NULL;
    return origin_bare(source_words(n.u->source, begin, end));
}

/* Child `number` of the cursor, which the clause has as `expr`. */
static node_t child_of(node_t n, const expr_t *expr, int number)
{
    cursors_t list = cursor_children(n.cursor);
    CXCursor c = number < list.count ? list.at[number] : clang_getNullCursor();
    if (n.expr && !expr)
        c = clang_getNullCursor();
    return (node_t){n.u, n.d, n.expr ? expr : NULL, c};
}

static bool is_pointer(CXCursor c)
{
    return clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_Pointer;
}

static bool is_array(CXCursor c)
{
    return type_is_array(clang_getCanonicalType(clang_getCursorType(c)));
}

/* Returns the operand of `.` or `->`. clang's tree has one more level for members of a struct
 * without a name. */
static node_t owner_of(node_t n)
{
    node_t owner = child_of(n, n.expr ? n.expr->left : NULL, 0);
    while (!clang_Cursor_isNull(owner.cursor) &&
           clang_getCursorKind(below_wrappers(owner.cursor)) == CXCursor_MemberRefExpr &&
           !*cursor_name(below_wrappers(owner.cursor)))
        owner.cursor = cursor_first_child(below_wrappers(owner.cursor));
    return owner;
}

static bool is_expr(node_t n, expr_kind_t kind)
{
    return !n.expr || n.expr->kind == kind;
}

static bool is_cast(enum CXCursorKind kind)
{
    return kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXStaticCastExpr ||
           kind == CXCursor_CXXReinterpretCastExpr || kind == CXCursor_CXXConstCastExpr;
}

/* The pointer to the object in which the place lies. */
static const char *place_origin(node_t n)
{
    if (clang_Cursor_isNull(n.cursor))
        return NULL;
    n.cursor = below_wrappers(n.cursor);
    switch (clang_getCursorKind(n.cursor)) {
    case CXCursor_DeclRefExpr: {
        const char *text = is_expr(n, EXPR_NAME) ? text_of(n) : NULL;
        return !text || is_array(n.cursor) ? text : arena_printf("&%s", text);
    }
    case CXCursor_ArraySubscriptExpr:
        return value_origin(child_of(n, n.expr ? n.expr->left : NULL, 0));
    case CXCursor_UnaryOperator:
        return clang_getCursorUnaryOperatorKind(n.cursor) == CXUnaryOperator_Deref &&
                       is_expr(n, EXPR_UNARY)
                   ? value_origin(child_of(n, n.expr ? n.expr->left : NULL, 0))
                   : NULL;
    case CXCursor_MemberRefExpr: {
        node_t owner = owner_of(n);
        if (clang_Cursor_isNull(owner.cursor)) { /* of the class around the function */
            const char *text = is_expr(n, EXPR_NAME) ? text_of(n) : NULL;
            return !text || is_array(n.cursor) ? text : arena_printf("&%s", text);
        }
        return is_pointer(owner.cursor) ? value_origin(owner) : place_origin(owner);
    }
    default: return NULL;
    }
}

/* The pointer from which the pointer, or the array, is computed. */
static const char *value_origin(node_t n)
{
    if (clang_Cursor_isNull(n.cursor))
        return NULL;
    n.cursor = below_wrappers(n.cursor);
    enum CXCursorKind kind = clang_getCursorKind(n.cursor);
    const expr_t *left = n.expr ? n.expr->left : NULL, *right = n.expr ? n.expr->right : NULL;
    if (kind == CXCursor_BinaryOperator && is_expr(n, EXPR_BINARY)) {
        node_t first = child_of(n, left, 0), second = child_of(n, right, 1);
        if (clang_Cursor_isNull(first.cursor) || clang_Cursor_isNull(second.cursor))
            return NULL;
        return is_pointer(first.cursor) || is_array(first.cursor) ? value_origin(first)
                                                                  : value_origin(second);
    }
    if (kind == CXCursor_UnaryOperator && is_expr(n, EXPR_UNARY) &&
        clang_getCursorUnaryOperatorKind(n.cursor) == CXUnaryOperator_AddrOf)
        return place_origin(child_of(n, left, 0));
    if (is_cast(kind) && is_expr(n, EXPR_CAST))
        return value_origin(child_of(n, left, cursor_children(n.cursor).count - 1));
    if (kind == CXCursor_CallExpr)
        return n.expr && n.expr->kind != EXPR_CALL ? NULL : text_of(n);
    if (is_array(n.cursor))
        return place_origin(n);
    return is_pointer(n.cursor) ? text_of(n) : NULL;
}

const char *origin_of_base(const unit_t *u, const expr_t *base)
{
    /* An item that kmmcc has added is based on an argument. */
    return clang_Cursor_isNull(base->cursor) ? NULL
           : base->kind == EXPR_OPAQUE && !base->left
               ? origin_of_argument(u, NULL, base->cursor)
               : value_origin((node_t){u, NULL, base, base->cursor});
}

const char *origin_text(const unit_t *u, const directive_t *d, CXCursor argument)
{
    return text_of((node_t){u, d, NULL, below_wrappers(argument)});
}

const char *origin_of_argument(const unit_t *u, const directive_t *d, CXCursor argument)
{
    return value_origin((node_t){u, d, NULL, argument});
}

/* ---- The argument that is an item ---- */

enum { MOST_TERMS = 16 };

/* A pointer as a sum: x, n and 3 of &x[n + 1] + 2. */
typedef struct sum {
    const char *root;
    const char *term[MOST_TERMS]; /* those that are no numbers, with their signs; sorted */
    int count;
    long long constant;
} sum_t;

/* Where there are too many terms, the last one has the rest. */
static void add_term(sum_t *s, const char *text)
{
    if (s->count == MOST_TERMS) {
        s->term[MOST_TERMS - 1] = arena_printf("%s%s", s->term[MOST_TERMS - 1], text);
        return;
    }
    int k = s->count++;
    for (; k > 0 && strcmp(s->term[k - 1], text) > 0; k--)
        s->term[k] = s->term[k - 1];
    s->term[k] = text;
}

/* The last + or - between operands, outside of brackets. NULL: there is none, or there are
 * operators that bind less. */
static const char *last_sign(const char *text)
{
    const char *found = NULL;
    int depth = 0;
    for (const char *c = text; *c; c++) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (depth == 0 && c > text &&
            (*c == '?' || *c == '|' || *c == '^' || *c == '=' || *c == '<' || *c == ',' ||
             (*c == '>' && c[-1] != '-') || (*c == '&' && !strchr("(+-*", c[-1]))))
            return NULL;
        if (depth == 0 && c > text && (*c == '+' || *c == '-') && c[1] != '>' && c[1] != *c &&
            !strchr("+-*/%&(!~", c[-1]))
            found = c;
    }
    return found;
}

/* Adds an index, which may be a sum, with a sign. */
static void add_index(sum_t *s, const char *text, int sign)
{
    text = origin_bare(text);
    const char *at = last_sign(text);
    if (at) {
        add_index(s, arena_printf("%.*s", (int)(at - text), text), sign);
        add_index(s, at + 1, *at == '+' ? sign : -sign);
        return;
    }
    char *end;
    long long value = strtoll(text, &end, 0);
    while (end > text && strchr("uUlL", *end) && *end)
        end++;
    if (end > text && !*end)
        s->constant += sign * value;
    else
        add_term(s, arena_printf("%c%s", sign > 0 ? '+' : '-', text));
}

/* The [ of the index at the end of &x[3]; NULL: the text is none such. */
static const char *last_index(const char *text)
{
    size_t k = strlen(text);
    int depth = 0;
    if (*text != '&' || text[k - 1] != ']')
        return NULL;
    do
        k--, depth += (text[k] == ']') - (text[k] == '[');
    while (depth && k > 1);
    return depth == 0 ? text + k : NULL;
}

static void add_pointer(sum_t *s, const char *text)
{
    text = origin_bare(text);
    const char *at = last_sign(text);
    if (at) {
        add_pointer(s, arena_printf("%.*s", (int)(at - text), text));
        add_index(s, at + 1, *at == '+' ? 1 : -1);
    } else if ((at = last_index(text))) {
        add_pointer(s, arena_printf("%.*s", (int)(at - text - 1), text + 1));
        add_index(s, arena_printf("%.*s", (int)strlen(at) - 2, at + 1), 1);
    } else {
        s->root = *text == '&' ? arena_printf("&%s", origin_bare(text + 1)) : text;
    }
}

/* The text in a form that is the same for x + 5, &x[5] and (x + 2) + 3. */
static const char *normal(const char *text)
{
    char *out = arena_copy(text, strlen(text)), *end = out;
    sum_t s = {0};
    for (const char *in = text; *in; in++)
        if (*in != ' ' && *in != '\t' && *in != '\n')
            *end++ = *in;
    *end = '\0';
    add_pointer(&s, out);
    const char *all = s.root;
    for (int k = 0; k < s.count; k++)
        all = arena_printf("%s%s", all, s.term[k]);
    return arena_printf("%s%+lld", all, s.constant);
}

/* True if the section is one index that no axis moves. */
static bool is_fixed(const directive_t *d, const section_t *section)
{
    if (!section->lower || section->length)
        return false;
    for (int k = 0; k < d->axis_count; k++)
        if (!form_is(section->lower_form.coef[k], 0))
            return false;
    return true;
}

/* The number of the item's first indices that no axis moves. */
static int fixed_sections(const directive_t *d, const item_t *item)
{
    int fixed = 0;
    while (fixed < item->section_count && !item->shape && is_fixed(d, &item->section[fixed]))
        fixed++;
    return fixed;
}

/* The base with the indices that no axis moves: what a call passes for A[2][i] is A[2]. */
static const char *pointer_of(const unit_t *u, const directive_t *d, const item_t *item)
{
    const int fixed = fixed_sections(d, item);
    size_t end = fixed ? item->section[fixed - 1].end : item->base->end;
    const char *text = source_words(u->source, item->begin, end);
    return normal(fixed && fixed == item->section_count ? arena_printf("&%s", text) : text);
}

static bool is_text(const unit_t *u, size_t begin, size_t end, const char *pointer)
{
    return !strcmp(normal(source_words(u->source, begin, end)), pointer);
}

static bool is_passed_as(const unit_t *u, const directive_t *d, const char *pointer,
                         CXCursor argument)
{
    size_t begin, end;
    CXCursor c = below_wrappers(argument);
    while (is_cast(clang_getCursorKind(c)))
        c = below_wrappers(cursor_last_child(c));
    if (has_text(c) && unit_range(u, c, &begin, &end) && is_text(u, begin, end, pointer))
        return true;
    return callee_argument_range(u, d, argument, &begin, &end) && is_text(u, begin, end, pointer);
}

/* True if the item is one element, and no argument but perhaps its array leads to it. */
static bool is_element(const unit_t *u, const directive_t *d, const item_t *item)
{
    const int fixed = fixed_sections(d, item);
    bool is_named = !fixed || fixed < item->section_count;
    for (int k = 0; k < d->argument_count && !is_named; k++)
        is_named = is_passed_as(u, d, pointer_of(u, d, item), d->argument[k]);
    return !is_named;
}

bool origin_is_item(const unit_t *u, const directive_t *d, const item_t *item, CXCursor argument)
{
    return is_passed_as(u, d, pointer_of(u, d, item), argument) ||
           (is_element(u, d, item) &&
            is_passed_as(u, d, normal(source_words(u->source, item->begin, item->base->end)),
                         argument));
}

bool origin_is_passed(const unit_t *u, const directive_t *d, const item_t *item)
{
    for (int k = 0; k < d->argument_count; k++)
        if (origin_is_item(u, d, item, d->argument[k]))
            return true;
    return false;
}

/* ---- Purity ---- */

static enum CXChildVisitResult find_effect(CXCursor c, CXCursor parent, CXClientData data)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    enum CXUnaryOperatorKind unary = kind == CXCursor_UnaryOperator
                                         ? clang_getCursorUnaryOperatorKind(c)
                                         : CXUnaryOperator_Invalid;
    bool plain = kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr ||
                 kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_ParenExpr ||
                 kind == CXCursor_UnexposedExpr || kind == CXCursor_IntegerLiteral ||
                 kind == CXCursor_CStyleCastExpr || kind == CXCursor_TypeRef ||
                 unary == CXUnaryOperator_AddrOf || unary == CXUnaryOperator_Deref ||
                 unary == CXUnaryOperator_Minus || unary == CXUnaryOperator_Plus;
    if (kind == CXCursor_BinaryOperator) {
        enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
        plain = op >= CXBinaryOperator_Mul && op <= CXBinaryOperator_Shr;
    }
    (void)parent;
    *(bool *)data &= plain;
    return plain ? CXChildVisit_Recurse : CXChildVisit_Break;
}

bool origin_is_pure(CXCursor argument)
{
    bool pure = true;
    find_effect(argument, argument, &pure);
    if (pure)
        clang_visitChildren(argument, find_effect, &pure);
    return pure;
}
