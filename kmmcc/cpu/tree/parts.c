/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of loops and branches, and the ends of statements. libclang does not tell the positions
 * of parentheses and semicolons, so they are found in the source.
 */
#include "cpu/tree/parts.h"

#include <string.h>

#include "base/source.h"

token_t parts_token(const body_tree_t *b, size_t at, size_t end)
{
    lexer_t l = lexer_within(b->u->source, at, end);
    return lex(&l);
}

size_t parts_end(const body_tree_t *b, const node_t *n)
{
    if (n->kind == CXCursor_CompoundStmt || n->kind == CXCursor_DeclStmt ||
        n->kind == CXCursor_NullStmt)
        return n->end;
    if (n->kind == CXCursor_IfStmt || n->kind == CXCursor_ForStmt ||
        n->kind == CXCursor_WhileStmt || n->kind == CXCursor_CXXForRangeStmt ||
        n->kind == CXCursor_SwitchStmt) {
        size_t end = n->last ? parts_end(b, n->last) : n->end;
        return end > n->end ? end : n->end;
    }
    token_t t = parts_token(b, n->end, b->u->source->length);
    return token_is(b->u->source, t, ";") ? t.end : n->end;
}

/* Finds the parentheses behind the statement's keyword, and the semicolons between them. */
static bool find_parentheses(body_tree_t *b, const node_t *n, size_t from, parts_t *p)
{
    const source_t *s = b->u->source;
    lexer_t l = lexer_within(s, from, n->end);
    int depth = 0, semicolons = 0;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        bool opens = token_is(s, t, "(") || token_is(s, t, "{") || token_is(s, t, "[");
        if (opens && depth++ == 0) {
            if (!token_is(s, t, "("))
                break;
            p->open = t.end;
        } else if (depth == 1 && token_is(s, t, ";")) {
            if (semicolons < 2)
                p->semicolon[semicolons] = t.begin;
            semicolons++;
        } else if (token_is(s, t, ")") || token_is(s, t, "}") || token_is(s, t, "]")) {
            if (--depth == 0) {
                p->close = t.begin;
                return semicolons == (n->kind == CXCursor_ForStmt ? 2 : 0) ||
                       tree_fail(b, n, "a statement begins with a declaration in its parentheses");
            }
        }
    }
    return tree_fail(b, n, "a statement's parentheses are not found");
}

static bool is_between(const node_t *n, size_t begin, size_t end)
{
    return n->end > n->begin && n->begin >= begin && n->end <= end;
}

static bool for_parts(body_tree_t *b, const node_t *n, parts_t *p)
{
    for (node_t *c = n->child; c; c = c->next) {
        if (c == n->last)
            p->first = c;
        else if (is_between(c, p->open, p->semicolon[0] + 1))
            p->initial = c;
        else if (is_between(c, p->semicolon[0], p->semicolon[1]) && c->kind != CXCursor_DeclStmt &&
                 c->kind != CXCursor_VarDecl)
            p->condition = c;
        else if (is_between(c, p->semicolon[1], p->close))
            p->increment = c;
        else
            return tree_fail(b, n, "a part of a 'for' comes from a macro or declares a variable");
    }
    return p->first && p->first->begin >= p->close;
}

static bool if_parts(body_tree_t *b, const node_t *n, parts_t *p)
{
    node_t *c = n->child;
    if (!c || !is_between(c, p->open, p->close) || c->kind == CXCursor_DeclStmt ||
        c->kind == CXCursor_VarDecl || !c->next || c->next->begin < p->close)
        return tree_fail(b, n, "a condition comes from a macro or declares a variable");
    p->condition = c;
    p->first = c->next;
    p->second = c->next->next;
    return true;
}

static bool do_parts(body_tree_t *b, const node_t *n, parts_t *p)
{
    p->first = n->child;
    p->condition = n->last;
    if (!p->first || p->first == p->condition || p->first->end <= p->first->begin)
        return tree_fail(b, n, "a part of a 'do' comes from a macro");
    return find_parentheses(b, n, parts_end(b, p->first), p) &&
           is_between(p->condition, p->open, p->close);
}

bool parts_of(body_tree_t *b, const node_t *n, parts_t *p)
{
    memset(p, 0, sizeof(*p));
    if (n->kind == CXCursor_DoStmt)
        return do_parts(b, n, p) || tree_fail(b, n, "a part of a 'do' comes from a macro");
    if (!find_parentheses(b, n, n->begin, p))
        return false;
    if (n->kind == CXCursor_ForStmt)
        return for_parts(b, n, p) || tree_fail(b, n, "a part of a 'for' comes from a macro");
    return if_parts(b, n, p);
}
