/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of clauses, with the precedence of C. Only their shape matters here: clang has the
 * last word on names and types, and what is not arithmetic stays text.
 */
#include "pragma/expression.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/token.h"
#include "pragma/parser.h"

/* Expressions within each other, as clang's limit of brackets, and operators in a row. */
enum { DEEPEST = 256, LONGEST = 4096 };

static expr_t *new_expr(expr_kind_t kind, size_t begin, size_t end)
{
    expr_t *e = arena_alloc(sizeof(*e));
    e->kind = kind;
    e->begin = begin;
    e->end = end;
    return e;
}

static bool is_type_word(const char *word)
{
    static const char *const words[] = {
        "void",   "char", "short",    "int",      "long",   "float",    "double",
        "signed", "bool", "unsigned", "_Bool",    "const",  "volatile", "struct",
        "union",  "enum", "auto",     "typename", "size_t", "ssize_t",  "ptrdiff_t"};
    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
        if (!strcmp(word, words[k]))
            return true;
    size_t length = strlen(word);
    return length > 2 && !strcmp(word + length - 2, "_t");
}

static expr_t *parse_number(parser_t *p)
{
    expr_t *e = new_expr(EXPR_NUMBER, p->token.begin, p->token.end);
    char *end, *text = token_text(p->s, p->token);
    char *out = text;
    for (char *in = text; *in; in++)
        if (*in != '\'')
            *out++ = *in;
    *out = '\0';
    errno = 0;
    bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    e->value = binary ? strtoll(text + 2, &end, 2) : strtoll(text, &end, 0);
    e->integral = !errno && strspn(end, "uUlLzZ") == strlen(end);
    parser_advance(p);
    return e;
}

/* Passes `<...>`; false: what follows the smaller-than sign cannot be template arguments. */
static bool pass_template_arguments(parser_t *p)
{
    static const char *const never[] = {";", "?", ":", "{", "}", "&&", "||", "="};
    parser_t ahead = *p;
    int angles = 0, parens = 0;
    do {
        bool inside = parens > 0;
        for (size_t k = 0; k < sizeof(never) / sizeof(*never) && !inside; k++)
            if (parser_at(&ahead, never[k]))
                return false;
        if (ahead.token.kind == TOKEN_END || parens < 0)
            return false;
        parens += parser_at(&ahead, "(") - parser_at(&ahead, ")");
        if (!inside)
            angles += parser_at(&ahead, "<") - parser_at(&ahead, ">") - 2 * parser_at(&ahead, ">>");
        parser_advance(&ahead);
    } while (angles > 0);
    if (angles == 0)
        *p = ahead;
    return angles == 0;
}

/* Passes template arguments, when what follows the name are some: `<...>` before `::` or `(`.
 * Between a smaller-than and a greater-than sign nothing else is written so. */
static void skip_template_arguments(parser_t *p)
{
    parser_t ahead = *p;
    if (parser_at(p, "<") && pass_template_arguments(&ahead) &&
        (parser_at(&ahead, "::") || parser_at(&ahead, "(")))
        *p = ahead;
}

/* Passes `(*)[8]`, what follows the name in the type of a pointer to arrays. */
static bool pass_pointer_to_array(parser_t *p)
{
    parser_t ahead = *p;
    int stars = 0, depth = 0;
    for (parser_advance(&ahead); parser_at(&ahead, "*"); stars++)
        parser_advance(&ahead);
    if (!stars || !parser_at(&ahead, ")"))
        return false;
    parser_advance(&ahead);
    if (!parser_at(&ahead, "["))
        return false;
    do {
        if (ahead.token.kind == TOKEN_END)
            return false;
        depth += parser_at(&ahead, "[") - parser_at(&ahead, "]");
        parser_advance(&ahead);
    } while (depth || parser_at(&ahead, "["));
    *p = ahead;
    return true;
}

/* After `(`: whether a type's name and `)` follow and then an operand, which makes it a cast.
 * `(name) x` and `(name *) x` are casts; `(name)` before an operator is not, unless the name is
 * known for a type. *end: where the type ends. */
static bool at_cast(parser_t *p, size_t *end)
{
    parser_t ahead = *p;
    bool known = false, words = false, stars = false;
    for (;;) {
        if (ahead.token.kind == TOKEN_NAME && !stars) {
            known |= is_type_word(token_text(p->s, ahead.token));
            words = true;
        } else if (words && !stars && parser_at(&ahead, "<") && pass_template_arguments(&ahead)) {
            continue;
        } else if (words && (parser_at(&ahead, "*") || parser_at(&ahead, "&"))) {
            stars = true;
        } else if (words && parser_at(&ahead, "(") && pass_pointer_to_array(&ahead)) {
            known = true;
            break;
        } else if (!parser_at(&ahead, "::")) {
            break;
        }
        parser_advance(&ahead);
    }
    *end = ahead.token.begin;
    if (!words || !parser_at(&ahead, ")"))
        return false;
    parser_advance(&ahead);
    bool operand = ahead.token.kind == TOKEN_NAME || ahead.token.kind == TOKEN_NUMBER ||
                   parser_at(&ahead, "(");
    return known || operand;
}

/* name = ['::'] NAME [template-arguments] { '::' NAME [template-arguments] } */
static expr_t *parse_name(parser_t *p)
{
    expr_t *e = new_expr(EXPR_NAME, p->token.begin, p->token.end);
    if (parser_at(p, "::"))
        parser_advance(p);
    while (p->token.kind == TOKEN_NAME) {
        parser_advance(p);
        skip_template_arguments(p);
        e->end = p->last_end;
        if (!parser_at(p, "::")) {
            e->op = source_words(p->s, e->begin, e->end);
            return e;
        }
        parser_advance(p);
    }
    return parser_error(p, "expected a name"), NULL;
}

/* primary = NUMBER | name | STRING | CHARACTER | '(' expression ')' */
static expr_t *parse_primary(parser_t *p)
{
    size_t begin = p->token.begin;
    if (p->token.kind == TOKEN_NUMBER)
        return parse_number(p);
    if (parser_at_word(p, "_Generic"))
        return parser_error(p, "_Generic is not written in clauses, but a macro in one may expand "
                               "to it"),
               NULL;
    if (p->token.kind == TOKEN_NAME || parser_at(p, "::"))
        return parse_name(p);
    if (p->token.kind == TOKEN_STRING || p->token.kind == TOKEN_CHARACTER) {
        expr_t *e = new_expr(EXPR_OPAQUE, begin, p->token.end);
        parser_advance(p);
        return e;
    }
    if (!parser_at(p, "("))
        return parser_error(p, "expected an expression"), NULL;
    parser_advance(p);
    expr_t *e = parse_expression(p);
    if (!e || !parser_expect(p, ")"))
        return NULL;
    e->begin = begin;
    e->end = p->last_end;
    return e;
}

/* arguments = [ expression { ',' expression } ] ')' */
static bool parse_arguments(parser_t *p, expr_t *call)
{
    for (expr_t **link = &call->right; !parser_at(p, ")"); link = &(*link)->next) {
        if (call->right && !parser_expect(p, ","))
            return false;
        *link = parse_expression(p);
        if (!*link)
            return false;
    }
    return parser_expect(p, ")");
}

/* [begin, end) is what to take away: without the pragma nothing would be changed, either. */
static expr_t *side_effect(parser_t *p, const char *what, size_t begin, size_t end)
{
    if (p->failed)
        return NULL;
    parser_error(p,
                 "%s would change a variable; expressions of a clause have no side effects: "
                 "compute the value before the pragma",
                 what);
    diag_fix(begin, end, "");
    return NULL;
}

static expr_t *too_long(parser_t *p)
{
    parser_error(p, "more than %d operators in a row", LONGEST);
    return NULL;
}

/* postfix = primary { '[' expression ']' | '(' arguments | ('.' | '->') NAME [template-arguments] }
 * `sections`: the brackets that follow belong to the item. */
static expr_t *parse_postfix(parser_t *p, bool sections)
{
    expr_t *e = parse_primary(p);
    for (int count = 0; e; count++) {
        if (count == LONGEST)
            return too_long(p);
        expr_t *whole = new_expr(EXPR_OPAQUE, e->begin, e->end);
        whole->left = e;
        if (parser_at(p, "[") && !sections) {
            parser_advance(p);
            whole->right = parse_expression(p);
            if (!whole->right || !parser_expect(p, "]"))
                return NULL;
        } else if (parser_at(p, "(") && !sections) {
            whole->kind = EXPR_CALL;
            parser_advance(p);
            if (!parse_arguments(p, whole))
                return NULL;
        } else if (parser_at(p, ".") || parser_at(p, "->")) {
            parser_advance(p);
            if (p->token.kind != TOKEN_NAME)
                return parser_error(p, "expected the name of a member"), NULL;
            parser_advance(p);
            skip_template_arguments(p);
        } else if (parser_at(p, "++") || parser_at(p, "--")) {
            return side_effect(p, token_text(p->s, p->token), p->token.begin, p->token.end);
        } else {
            return e;
        }
        whole->end = p->last_end;
        e = whole;
    }
    return e;
}

expr_t *parse_path(parser_t *p)
{
    return parse_postfix(p, true);
}

static expr_t *parse_unary(parser_t *p);

/* `sizeof` takes a type or an expression: both are text to us. */
static expr_t *parse_sizeof(parser_t *p)
{
    expr_t *e = new_expr(EXPR_OPAQUE, p->token.begin, 0);
    parser_advance(p);
    if (!parser_at(p, "(")) {
        const expr_t *operand = parse_unary(p);
        e->end = operand ? operand->end : 0;
        return operand ? e : NULL;
    }
    int depth = 0;
    do {
        depth += parser_at(p, "(") - parser_at(p, ")");
        if (p->token.kind == TOKEN_END)
            return parser_error(p, "expected ')'"), NULL;
        parser_advance(p);
    } while (depth);
    e->end = p->last_end;
    return e;
}

/* Parses the operand of a prefix operator or cast, with which the expression ends. */
static expr_t *parse_right(parser_t *p, expr_t *e)
{
    e->left = parse_unary(p);
    if (!e->left)
        return NULL;
    e->end = e->left->end;
    return e;
}

/* cast = '(' type ')' unary */
static expr_t *parse_cast(parser_t *p, size_t begin, size_t end)
{
    expr_t *e = new_expr(EXPR_CAST, begin, 0);
    e->type_begin = p->token.begin;
    while (p->token.begin < end)
        parser_advance(p);
    e->type_end = p->last_end;
    parser_advance(p);
    return parse_right(p, e);
}

/* unary = ('-' | '+' | '!' | '~' | '*' | '&') unary | cast | sizeof | postfix */
static expr_t *parse_operator(parser_t *p)
{
    size_t begin = p->token.begin, end;
    if (parser_at(p, "++") || parser_at(p, "--"))
        return side_effect(p, token_text(p->s, p->token), p->token.begin, p->token.end);
    if (token_is(p->s, p->token, "sizeof"))
        return parse_sizeof(p);
    if (parser_at(p, "(")) {
        parser_t ahead = *p;
        parser_advance(&ahead);
        if (at_cast(&ahead, &end)) {
            *p = ahead;
            return parse_cast(p, begin, end);
        }
    }
    if (p->token.kind != TOKEN_PUNCTUATOR || p->token.end - p->token.begin != 1 ||
        !strchr("-+!~*&", p->s->text[begin]))
        return parse_postfix(p, false);
    expr_t *e = new_expr(EXPR_UNARY, begin, 0);
    e->op = token_text(p->s, p->token);
    parser_advance(p);
    return parse_right(p, e);
}

static expr_t *too_deep(parser_t *p)
{
    parser_error(p, "more than %d expressions within each other", DEEPEST);
    return NULL;
}

/* All that nests passes here. */
static expr_t *parse_unary(parser_t *p)
{
    if (p->depth == DEEPEST)
        return too_deep(p);
    p->depth++;
    expr_t *e = parse_operator(p);
    p->depth--;
    return e;
}

/* Binds tighter the higher; 0 is no binary operator. */
static int binary_precedence(parser_t *p)
{
    static const struct {
        const char *op;
        int precedence;
    } table[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                 {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                 {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
    if (p->token.kind == TOKEN_PUNCTUATOR)
        for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++)
            if (parser_at(p, table[k].op))
                return table[k].precedence;
    return 0;
}

/* binary = unary { OPERATOR unary }, by precedence */
static expr_t *parse_binary(parser_t *p, int lowest)
{
    expr_t *left = parse_unary(p);
    int count = 0;
    for (int precedence; left && (precedence = binary_precedence(p)) >= lowest; count++) {
        if (count == LONGEST)
            return too_long(p);
        expr_t *e = new_expr(EXPR_BINARY, left->begin, 0);
        e->op = token_text(p->s, p->token);
        parser_advance(p);
        e->left = left;
        e->right = parse_binary(p, precedence + 1);
        if (!e->right)
            return NULL;
        e->end = e->right->end;
        left = e;
    }
    return left;
}

static bool at_assignment(parser_t *p)
{
    size_t length = p->token.end - p->token.begin;
    static const char *const comparisons[] = {"==", "!=", "<=", ">="};
    if (p->token.kind != TOKEN_PUNCTUATOR || p->s->text[p->token.end - 1] != '=' || length > 3)
        return false;
    for (int k = 0; k < 4; k++)
        if (parser_at(p, comparisons[k]))
            return false;
    return true;
}

expr_t *parse_operand(parser_t *p)
{
    expr_t *e = parse_binary(p, 1);
    if (e && at_assignment(p))
        return side_effect(p, "an assignment", e->begin, p->token.end);
    return e;
}

/* expression = operand [ '?' expression ':' expression ] */
expr_t *parse_expression(parser_t *p)
{
    expr_t *condition = parse_operand(p);
    if (!condition || !parser_at(p, "?"))
        return condition;
    expr_t *e = new_expr(EXPR_CHOICE, condition->begin, 0);
    parser_advance(p);
    e->left = condition;
    e->right = parse_expression(p);
    if (!e->right || !parser_expect(p, ":"))
        return NULL;
    if (p->depth == DEEPEST)
        return too_deep(p);
    p->depth++;
    e->other = parse_expression(p);
    p->depth--;
    if (!e->other)
        return NULL;
    e->end = e->other->end;
    return e;
}
