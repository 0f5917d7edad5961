/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in a function's body: their names and arguments, how arguments are passed, and which calls
 * are collective. */
#include "cpu/tree/call.h"

#include <string.h>

#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "clang/disabled.h"
#include "cpu/program/collectives.h"
#include "cpu/tree/parts.h"

bool is_reference_type(CXType type)
{
    return type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
}

const char *call_name(const node_t *call)
{
    if (call->called)
        return call->called;
    const char *name = clang_text(clang_getCursorSpelling(call->cursor));
    for (const node_t *n = call->child; !*name && n; n = n->child)
        if (n->kind == CXCursor_DeclRefExpr || n->kind == CXCursor_MemberRefExpr ||
            n->kind == CXCursor_OverloadedDeclRef) {
            name = clang_text(clang_getCursorSpelling(n->cursor));
            break;
        }
    if (!*name && call->child && call->child->child && call->child->kind == CXCursor_UnexposedExpr)
        name = clang_text(clang_getCursorSpelling(call->child->child->cursor));
    return strcmp(name, "kmm_host_syncthreads") ? name : "__syncthreads";
}

/* Arguments are in order. Those of an operator have the function's name between them. */
int call_arguments(const node_t *call, node_t **argument, int room)
{
    const char *name = call_name(call);
    bool is_operator = !strncmp(name, "operator", 8),
         makes_temporary =
             clang_getCursorKind(clang_getCursorReferenced(call->cursor)) == CXCursor_Constructor;
    int found = 0;
    for (node_t *c = is_operator || makes_temporary ? call->child
                     : call->child                  ? call->child->next
                                                    : NULL;
         c; c = c->next) {
        const node_t *inner = c;
        while (inner->kind == CXCursor_UnexposedExpr && inner->child && !inner->child->next)
            inner = inner->child;
        bool is_callee =
            is_operator &&
            (inner->kind == CXCursor_DeclRefExpr || inner->kind == CXCursor_OverloadedDeclRef) &&
            !strcmp(clang_text(clang_getCursorSpelling(inner->cursor)), name);
        if (is_callee || !clang_isExpression(c->kind) || c->end <= c->begin)
            continue;
        if (found < room)
            argument[found] = c;
        found++;
    }
    return found;
}

passing_t call_passing(const node_t *call, const node_t *argument)
{
    enum { ROOM = 64 };
    node_t *list[ROOM];
    CXCursor function = clang_getCursorReferenced(call->cursor);
    int k = 0, count = call_arguments(call, list, ROOM);
    while (k < count && k < ROOM && list[k] != argument)
        k++;
    if (call->collective == COLLECTIVE_BUILTIN)
        return PASSED_BY_VALUE;
    if (clang_Cursor_isNull(function) || k >= count || k >= ROOM)
        return PASSED_UNKNOWN;
    enum CXCursorKind kind = clang_getCursorKind(function);
    if (call->collective == COLLECTIVE_FUNCTION && kind != CXCursor_FunctionDecl &&
        kind != CXCursor_CXXMethod)
        return PASSED_UNKNOWN;
    bool is_member = clang_getCursorKind(function) == CXCursor_CXXMethod &&
                     !strncmp(call_name(call), "operator", 8);
    if (is_member && k == 0)
        return clang_CXXMethod_isConst(function) ? PASSED_BY_CONST : PASSED_BY_REFERENCE;
    CXType type =
        clang_getCursorType(clang_Cursor_getArgument(function, (unsigned)(k - is_member)));
    if (type.kind == CXType_Invalid) /* of `...` */
        return PASSED_BY_VALUE;
    if (!is_reference_type(type))
        return PASSED_BY_VALUE;
    return clang_isConstQualifiedType(clang_getPointeeType(type)) ? PASSED_BY_CONST
                                                                  : PASSED_BY_REFERENCE;
}

bool call_is_barrier(const node_t *call)
{
    const builtin_t builtin =
        call->collective_name ? collectives_builtin(call->collective_name) : BUILTIN_NONE;
    return builtin == BUILTIN_BARRIER || builtin == BUILTIN_WARP_BARRIER;
}

/* Returns the last name before the parenthesis of a call. clang does not name a member of a type
 * that depends on a template. */
static const char *written_name(const body_tree_t *b, const node_t *call)
{
    const char *name = "";
    const source_t *s = b->u->source;
    const node_t *callee = call->child;
    if (!callee || callee->end <= callee->begin)
        return name;
    lexer_t l = lexer_within(s, callee->begin, callee->end);
    int depth = 0;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        depth += token_is(s, t, "<") + token_is(s, t, "(") + token_is(s, t, "[") -
                 token_is(s, t, ">") - token_is(s, t, ")") - token_is(s, t, "]");
        if (depth == 0 && t.kind == TOKEN_NAME)
            name = token_text(s, t);
    }
    return name;
}

void call_find_collectives(const body_tree_t *b, node_t *n, collective_of_t collective_of,
                           const void *context)
{
    if (n->kind == CXCursor_CallExpr) {
        const char *name = call_name(n);
        name = *name ? name : written_name(b, n);
        n->called = name;
        n->collective = collective_of(context, name);
        n->collective_name = n->collective != COLLECTIVE_NONE ? name : NULL;
    }
    n->has_collective = n->collective_name != NULL;
    for (node_t *c = n->child; c; c = c->next) {
        call_find_collectives(b, c, collective_of, context);
        n->has_collective |= c->has_collective;
    }
}

static bool is_in_collective(const node_t *n, size_t at)
{
    if (n->collective_name && at >= n->begin && at < n->end)
        return true;
    for (const node_t *c = n->child; c; c = c->next)
        if (c->has_collective && is_in_collective(c, at))
            return true;
    return false;
}

/* libclang hides some expressions, so the text is searched for names of collective operations. */
bool call_are_all_found(body_tree_t *b, collective_of_t collective_of, const void *context)
{
    const source_t *s = b->u->source;
    lexer_t l = lexer_within(s, b->root->begin, b->root->end);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_NAME || collective_of(context, token_text(s, t)) == COLLECTIVE_NONE)
            continue;
        token_t behind = parts_token(b, t.end, b->root->end);
        if ((token_is(s, behind, "(") || token_is(s, behind, "<")) &&
            !is_in_collective(b->root, t.begin) && !disabled_in_source(b->u, t.begin)) {
            b->reason_at = t.begin;
            b->reason = "a call of what may meet at a barrier is not seen as one";
            return false;
        }
    }
    return true;
}
