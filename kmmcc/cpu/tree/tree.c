/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a function as a tree of nodes with their positions in the source, and its variables.
 * read.c fills it in; later stages add what they find.
 */
#include "cpu/tree/tree.h"

bool tree_fail(body_tree_t *b, const node_t *n, const char *reason)
{
    if (!b->reason) {
        b->reason = reason;
        b->reason_at = n ? n->begin : 0;
    }
    return false;
}

enum CXBinaryOperatorKind tree_operator(const node_t *n)
{
    return n->kind == CXCursor_BinaryOperator ? clang_getCursorBinaryOperatorKind(n->cursor)
                                              : CXBinaryOperator_Invalid;
}

bool tree_is_loop(const node_t *n)
{
    return n->kind == CXCursor_ForStmt || n->kind == CXCursor_WhileStmt ||
           n->kind == CXCursor_DoStmt;
}

/* Implicit conversions are unexposed expressions. */
const node_t *tree_bare(const node_t *n)
{
    while (n && n->child && !n->child->next &&
           (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr))
        n = n->child;
    return n;
}

const node_t *tree_stripped(const node_t *n)
{
    while (n && n->child && !n->child->next &&
           (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_ParenExpr ||
            n->kind == CXCursor_CStyleCastExpr))
        n = n->child;
    return n;
}

bool tree_any(const node_t *n, bool (*holds)(const node_t *n, const void *context),
              const void *context)
{
    if (holds(n, context))
        return true;
    for (const node_t *c = n->child; c; c = c->next)
        if (tree_any(c, holds, context))
            return true;
    return false;
}
