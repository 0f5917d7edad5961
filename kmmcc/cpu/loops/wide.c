/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wide blocks: blocks that are adjacent along x can run as one if the code uses a thread's position
 * along x only as blockIdx.x * blockDim.x + threadIdx.x.
 */
#include "cpu/loops/wide.h"

#include <string.h>

#include "base/arena.h"
#include "clang/cursor.h"
#include "cpu/loops/axis.h"

/* Returns "threadIdx.x", "blockIdx.y" ..., or "" for another expression. Conversions between
 * integers are skipped. */
static const char *index_name(const node_t *n)
{
    const node_t *inner = tree_stripped(n);
    for (; n != inner; n = n->child)
        if (!axis_is_index_type(clang_getCursorType(n->cursor)))
            return "";
    if (!n || n->kind != CXCursor_MemberRefExpr || !n->child ||
        tree_stripped(n->child)->kind != CXCursor_DeclRefExpr)
        return "";
    return arena_printf("%s.%s",
                        clang_text(clang_getCursorSpelling(tree_stripped(n->child)->cursor)),
                        clang_text(clang_getCursorSpelling(n->cursor)));
}

static bool is_sum(const node_t *n)
{
    return tree_operator(n) == CXBinaryOperator_Add &&
           axis_is_index_type(clang_getCursorType(n->cursor));
}

/* Counts the terms of a sum that are threadIdx.x, or blockIdx.x * blockDim.x. With `look`, it
 * returns false if another term uses the position along x otherwise. */
typedef struct terms {
    int threads, blocks;
} terms_t;

static bool count_terms(const node_t *n, terms_t *found, bool look)
{
    const node_t *inner = tree_stripped(n);
    if (is_sum(inner) && axis_is_index_type(clang_getCursorType(n->cursor)))
        return count_terms(inner->child, found, look) && count_terms(inner->last, found, look);
    bool is_product = tree_operator(inner) == CXBinaryOperator_Mul;
    const char *left = is_product ? index_name(inner->child) : "",
               *right = is_product ? index_name(inner->last) : "";
    bool is_block = (!strcmp(left, "blockIdx.x") && !strcmp(right, "blockDim.x")) ||
                    (!strcmp(left, "blockDim.x") && !strcmp(right, "blockIdx.x"));
    bool is_thread = !strcmp(index_name(n), "threadIdx.x");
    found->threads += is_thread;
    found->blocks += is_block;
    return is_block || is_thread || !look || wide_is_possible(n);
}

bool wide_is_possible(const node_t *n)
{
    terms_t found = {0, 0};
    if (n->kind == CXCursor_LambdaExpr)
        return false;
    if (is_sum(n) && count_terms(n, &found, false) && found.threads == 1 && found.blocks == 1)
        return count_terms(n, &found, true);
    const char *name = n->kind == CXCursor_MemberRefExpr ? index_name(n) : "";
    if (!strcmp(name, "threadIdx.x") || !strcmp(name, "blockIdx.x"))
        return false;
    if (*name)
        return true;
    name = n->kind == CXCursor_DeclRefExpr && !n->variable
               ? clang_text(clang_getCursorSpelling(n->cursor))
               : "";
    if (!strcmp(name, "threadIdx") || !strcmp(name, "blockIdx"))
        return false;
    for (const node_t *c = n->child; c; c = c->next)
        if (!wide_is_possible(c))
            return false;
    return true;
}
